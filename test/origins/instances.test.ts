import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { BALANCERS, freePort, redisServer } from '@sameriver/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceOptions } from './instance.ts';
import { Instance } from './instance.ts';
import { read } from './reader.ts';
import { useRedis } from './use-redis.ts';

/*
 * Instances of one service in processes of their own, which share nothing but a real Redis, and know
 * it by the variable alone.
 */

const redis = useRedis();
const closing: (() => unknown)[] = [];

beforeEach(() => redis.client.flushall());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function instance(name: string, options: Partial<InstanceOptions> = {}): Promise<Instance> {
  const started = await Instance.start({ name, redis: redis.url, ...options });
  closing.push(() => started.kill());
  return started;
}

async function reader(port: number, cursor?: string): ReturnType<typeof read> {
  const opened = await read(port, cursor);
  closing.push(() => opened.close());
  return opened;
}

const range = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, n) => String(first + n));

/** Publishes to somebody who reads, who then leaves; resolves once the index has heard of it. */
async function issue(on: Instance, ...ids: string[]): Promise<void> {
  const before = (await records()).length;
  const attached = on.attached();
  const one = await reader(on.port);
  await attached;
  on.publish(...ids);
  await one.until(ids.at(-1) ?? '');
  on.endStreams();
  for (let tries = 0; tries < 200 && (await records()).length === before; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function records(): Promise<string[]> {
  const [key] = await redis.client.keys('sameriver:origins:feeds:*');
  return key === undefined ? [] : redis.client.hvals(key);
}

describe.each(['redis', 'ioredis'] as const)(
  'instances that share a Redis through %s',
  (client) => {
    it('X1: of which each has a log and names it: the second says from where and how many lie between', async () => {
      const a = await instance('a', { epoch: 'log-a', client });
      const b = await instance('b', { epoch: 'log-b', client });
      const balancer = await BALANCERS.HAProxy([a.port, b.port]);
      closing.push(() => balancer.close());
      const port = Number(new URL(balancer.origin).port);
      const attached = a.attached();
      const before = await reader(port);
      await attached;
      a.publish(...range(4000, 4140));
      await before.until('4140');
      // The index hears of a stream that goes on once a second; then A dies without a word.
      expect(await eventually(records)).toHaveLength(1);
      await a.kill();
      const again = b.attached();
      const after = await reader(port, '4118');
      await again;
      b.publish('13', '14');
      await after.until('14');
      expect(await b.verdict()).toMatchObject({
        classification: 'reoriginated',
        reason: 'epoch_changed',
        origin: { instance: 'a', epoch: { text: 'log-a' }, newest: 4140, eventsAfter: 22 },
      });
    });

    it('X2: that write one log and name it: a replay of the own part stays resumed', async () => {
      const a = await instance('a', { epoch: 'one-log', client });
      const b = await instance('b', { epoch: 'one-log', client });
      await issue(a, ...range(1, 20));
      await issue(b, ...range(1, 20));
      const after = await reader(b.port, '13');
      await after.until('20');
      expect(await b.verdict()).toMatchObject({ reason: 'replay_observed' });
    });

    it('X3: that name no log: a fall-back says from where', async () => {
      const a = await instance('a', { client });
      const b = await instance('b', { client });
      await issue(a, ...range(4000, 4140));
      const attached = b.attached();
      const after = await reader(b.port, '4118');
      await attached;
      b.publish('13');
      await after.until('13');
      expect(await b.verdict()).toMatchObject({
        reason: 'cursor_not_advanced',
        missed: 'unknown',
        origin: { instance: 'a', newest: 4140, eventsAfter: 22 },
      });
    });

    it('X4: that count alike and name no log: a replay of the own one is not resumed', async () => {
      const a = await instance('a', { client });
      const b = await instance('b', { client });
      await issue(b, ...range(1, 20));
      await issue(a, ...range(1, 20));
      const after = await reader(b.port, '13');
      await after.until('20');
      expect(await b.verdict()).toMatchObject({
        classification: 'unverifiable',
        reason: 'cursor_issued_elsewhere',
        missed: 'unknown',
        origin: { instance: 'a', eventsAfter: 7 },
      });
    });

    it('end by themselves', async () => {
      const a = await instance('a', { client });
      await issue(a, '1');
      expect(await a.close()).toBe(0);
    });
  },
);

describe('where the index is of no help', () => {
  /** A fall-back of an instance whose index is there. */
  async function fallsBack(url: string): Promise<Instance> {
    const b = await instance('b', { redis: url });
    const attached = b.attached();
    const after = await reader(b.port, '4118');
    await attached;
    b.publish('13');
    await after.until('13');
    return b;
  }

  it('the verdict is as without: Redis is not there, and the process still ends', async () => {
    const b = await fallsBack(`redis://127.0.0.1:${await freePort()}`);
    expect(await b.verdict()).toMatchObject({ reason: 'cursor_not_advanced' });
    expect(await b.close()).toBe(0);
  });

  it('the verdict is as without and waits, the stream does not: Redis never answers', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      socket.resume();
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const b = await fallsBack(`redis://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    expect(b.verdicts).toEqual([]);
    expect(await b.verdict()).toMatchObject({ reason: 'cursor_not_advanced' });
    expect(await b.close()).toBe(0);
  });

  it('the verdict is as without: Redis goes away in the middle', async () => {
    const own = await redisServer();
    closing.push(() => own.close());
    const b = await instance('b', { redis: own.url });
    const attached = b.attached();
    const first = await reader(b.port);
    await attached;
    b.publish('1');
    await first.until('1');
    await own.close();
    const again = b.attached();
    const after = await reader(b.port, '4118');
    await again;
    b.publish('13');
    await after.until('13');
    expect(await b.verdict()).toMatchObject({ reason: 'cursor_not_advanced' });
  });

  it('one line says so: no client of Redis is installed', async () => {
    const b = await instance('b', { client: 'none' });
    expect(await b.complaint()).toMatch(
      /^sameriver: SAMERIVER_ORIGIN_REDIS has no effect: neither "redis" nor "ioredis" .*\n$/,
    );
  });
});

async function eventually<Value>(look: () => Promise<readonly Value[]>): Promise<readonly Value[]> {
  for (let tries = 0; tries < 100; tries++) {
    const found = await look();
    if (found.length > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return [];
}
