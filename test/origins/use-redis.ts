import type { RedisServer } from '@sameriver/testkit';
import { redisServer } from '@sameriver/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';

/** A Redis for the tests of a file, there from the first of them to the last. */
export function useRedis(): { readonly url: string; readonly client: Redis } {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await redisServer();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.close();
  });
  return {
    get url() {
      return server.url;
    },
    get client() {
      return client;
    },
  };
}
