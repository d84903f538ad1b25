import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogServer, RedisServer } from '@sameriver/testkit';
import { freePort, logServer, redisServer } from '@sameriver/testkit';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Guard } from '../guard.ts';
import { createGuard } from '../guard.ts';
import { jsonKey } from '../keys.ts';
import type { InDoubtAnswer } from '../types.ts';
import { LedgerUnavailable } from './ledger.ts';
import type { RedisClient } from './redis.ts';
import { redisLedger } from './redis.ts';

let folder: string;
let port: number;
let redis: RedisServer;
let server: LogServer;
let applied: string[];
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sameriver-outage-'));
  port = await freePort();
  redis = await redisServer({ port, dir: folder });
  server = await logServer();
  applied = [];
}, 120_000);
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await server.close();
  await redis.close();
  rmSync(folder, { recursive: true });
});

type Connect = () => Promise<RedisClient>;

const CLIENTS: Readonly<Record<string, Connect>> = {
  redis: async () => {
    const client = createClient({ url: redis.url });
    client.on('error', () => {});
    closing.push(() => client.destroy());
    return client.connect();
  },
  ioredis: async () => {
    const client = new Redis(redis.url);
    client.on('error', () => {});
    closing.push(() => client.disconnect());
    return client;
  },
};

async function guardOn(connect: Connect, onInDoubt?: () => InDoubtAnswer): Promise<Guard> {
  const ledger = redisLedger(await connect(), { lease: 0, answerTimeout: 300 });
  return createGuard({ ledger, key: jsonKey('/key'), ...(onInDoubt && { onInDoubt }) });
}

/** Applies events; `at` is called between effect and confirmation. */
async function apply(guard: Guard, last: string, at: (key: string) => unknown): Promise<void> {
  for await (const { data } of guard.events(server.url, { retry: 1 })) {
    const { key } = JSON.parse(data);
    applied.push(key);
    await at(key);
    if (key === last) return;
  }
}

const back = async (): Promise<void> => {
  redis = await redisServer({ port, dir: folder });
};

describe.each(Object.entries(CLIENTS))(
  'A Redis that dies in the middle, behind %s',
  (_, connect) => {
    test('Its guard stops and says why, and what it had begun is asked about at the next start', async () => {
      server.append({ key: 'a' }, { key: 'b' }, { key: 'c' });
      const run = apply(await guardOn(connect), 'c', (key) => key === 'b' && redis.close());
      const error: unknown = await run.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(LedgerUnavailable);
      expect((error as Error).message).toMatch(/^the ledger in Redis could not be used \(.+\); /);
      expect((error as Error).cause).toBeInstanceOf(Error);
      expect(applied).toEqual(['a', 'b']);

      await back();
      const unsure = apply(await guardOn(connect), 'c', () => {});
      await expect(unsure).rejects.toMatchObject({ reason: 'in_doubt', key: 'b' });
      expect(applied).toEqual(['a', 'b']);

      await apply(await guardOn(connect, () => 'applied'), 'c', () => {});
      expect(applied).toEqual(['a', 'b', 'c']);
    });

    test('Nothing is applied while it is away, and nothing is lost by that', async () => {
      const guard = await guardOn(connect);
      await redis.close();
      server.append({ key: 'a' });
      await expect(apply(guard, 'a', () => {})).rejects.toThrow(LedgerUnavailable);
      await expect(guard.once('k', () => void applied.push('k'))).rejects.toThrow(
        LedgerUnavailable,
      );
      expect(applied).toEqual([]);
      await back();
      await apply(await guardOn(connect), 'a', () => {});
      expect(applied).toEqual(['a']);
    });

    test('A fetch of the guard ends the body without an error, and onError hears why', async () => {
      server.append({ key: 'a' });
      const guard = await guardOn(connect);
      const heard: unknown[] = [];
      await redis.close();
      const fetch = guard.fetch({ onError: (error) => heard.push(error) });
      const response = await fetch(server.url);
      expect(await response.text()).not.toContain('"a"');
      expect(heard).toEqual([expect.any(LedgerUnavailable)]);
      await back();
    });
  },
);
