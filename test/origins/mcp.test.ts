import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { BALANCERS, freePort } from '@sameriver/testkit';
import { afterEach, expect, it } from 'vitest';
import { Instance } from '../mcp/lib/instance.ts';
import { useRedis } from './use-redis.ts';

/*
 * Two processes of SDK 1.x, of which the second adopts the sessions of the first by their id alone,
 * as "rehydration" does, and has none of their events.
 */

const redis = useRedis();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(name: string, port: number, start: number): Promise<Instance> {
  const own = { adopts: true, proves: true, name, redis: redis.url } as const;
  const instance = await Instance.start({ sdk: 1, port, start, ...own });
  closing.push(() => instance.kill());
  return instance;
}

/** How many ids the index has heard of. */
async function idsTold(): Promise<number> {
  const keys = await redis.client.keys('sameriver:origins:*');
  const values = (await Promise.all(keys.map((key) => redis.client.hvals(key)))).flat();
  const counts = values.map((value) => {
    const { runs, tags } = JSON.parse(value.slice(value.indexOf(' '))) as Record<
      string,
      number[][]
    >;
    return (
      (runs ?? []).reduce((sum, [first = 0, last = 0]) => sum + last - first + 1, 0) +
      (tags ?? []).length
    );
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

it('X1: an adopted MCP session is told from where it was adopted, and how many lie between', async () => {
  const ports = [await freePort(), await freePort()] as const;
  const a = await start('a', ports[0], 4110);
  const balancer = await BALANCERS.HAProxy(ports);
  closing.push(() => balancer.close());
  const heard: string[] = [];
  const client = new Client({ name: 'listener', version: '1' });
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(String(params.data));
  });
  const reconnectionOptions = {
    initialReconnectionDelay: 20,
    maxReconnectionDelay: 100,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 1_000, // a process may take seconds to start
  };
  const url = new URL('/mcp', balancer.origin);
  await client.connect(new StreamableHTTPClientTransport(url, { reconnectionOptions }) as never);
  closing.push(() => client.close());
  const untilHeard = async (of: Instance, text: string): Promise<void> => {
    for (let tries = 0; tries < 200 && !heard.includes(text); tries++) {
      await of.notify(text);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await untilHeard(a, 'from a');
  // Of a stream that goes on the index hears within a second.
  for (let tries = 0; tries < 200 && (await idsTold()) < heard.length; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await a.kill();
  const b = await start('b', ports[1], 12);
  await untilHeard(b, 'from b');
  for (let tries = 0; tries < 100 && b.verdicts.length === 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(b.verdicts.at(-1)).toMatchObject({
    classification: 'reoriginated',
    reason: 'epoch_changed',
    origin: { instance: 'a', eventsAfter: 0 },
  });
});
