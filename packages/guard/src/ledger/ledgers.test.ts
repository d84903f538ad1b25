import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisServer } from '@sameriver/testkit';
import { redisServer } from '@sameriver/testkit';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IdempotencyLedger } from './ledger.ts';
import { LedgerFull, memoryLedger } from './memory.ts';
import { redisLedger } from './redis.ts';
import { sqliteLedger } from './sqlite.ts';

let redis: RedisServer;
let folder: string;
const closing: Array<() => unknown> = [];
let made = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sameriver-ledger-'));
  redis = await redisServer();
}, 120_000);
afterAll(async () => {
  for (const close of closing) await close();
  await redis.close();
  rmSync(folder, { recursive: true });
});

/** Each opens the same storage as often as it is called. */
type Storage = () => Promise<IdempotencyLedger>;

const LEASE = 20;
const NO_LEASE = { lease: 0 };

const STORAGES: Readonly<Record<string, () => Storage>> = {
  memory: () => {
    const one = memoryLedger();
    return async () => one;
  },
  SQLite: () => {
    const path = join(folder, `${made++}.db`);
    return async () => sqliteLedger(path);
  },
  'Redis (redis)': () => {
    const prefix = `a${made++}:`;
    return async () => {
      const client = await createClient({ url: redis.url }).connect();
      closing.push(() => client.destroy());
      return redisLedger(client, { prefix, ...NO_LEASE });
    };
  },
  'Redis (ioredis)': () => {
    const prefix = `b${made++}:`;
    return async () => {
      const client = new Redis(redis.url);
      closing.push(() => client.disconnect());
      return redisLedger(client, { prefix, ...NO_LEASE });
    };
  },
};

const POSITION = { stream: 'feed', cursor: '7', epoch: 'g1', run: 'r1' };

describe.each(Object.entries(STORAGES))('A ledger in %s', (_, storage) => {
  test('A key is reserved, then confirmed, and the position moves in the same step', async () => {
    const open = storage();
    const ledger = await open();
    expect(await ledger.reserve('a')).toEqual({ state: 'reserved', complete: true });
    expect(await ledger.position('feed')).toBeUndefined();
    expect(await ledger.confirm('a', POSITION)).toBe(true);
    const later = await open();
    expect(await later.reserve('a')).toEqual({ state: 'confirmed' });
    expect(await later.position('feed')).toEqual(POSITION);
  });

  test('A key that was reserved and never confirmed is in doubt, for as long as it takes', async () => {
    const open = storage();
    await (await open()).reserve('a');
    const later = await open();
    expect(await later.reserve('a')).toMatchObject({ state: 'in_doubt' });
    expect(await later.reserve('a')).toMatchObject({ state: 'in_doubt' });
  });

  test('A reservation in doubt is taken over by one alone, and its owner cannot confirm any more', async () => {
    const open = storage();
    const dead = await open();
    await dead.reserve('a');
    const [one, two] = [await open(), await open()];
    const doubt = await one.reserve('a');
    if (doubt.state !== 'in_doubt') throw new TypeError('expected a doubt');
    const taken = [await one.takeOver('a', doubt.token), await two.takeOver('a', doubt.token)];
    expect(taken).toEqual([true, false]);
    // One object is all there is of a ledger in memory.
    if (dead !== one) expect(await dead.confirm('a', undefined)).toBe(false);
    expect(await one.confirm('a', undefined)).toBe(true);
  });

  test('What is released can be reserved again, what is abandoned is in doubt', async () => {
    const ledger = await storage()();
    await ledger.reserve('a');
    await ledger.release('a');
    expect(await ledger.reserve('a')).toMatchObject({ state: 'reserved' });
    await ledger.abandon('a');
    expect(await ledger.reserve('a')).toMatchObject({ state: 'in_doubt' });
  });

  test('A position can be moved without an effect, and forgotten', async () => {
    const ledger = await storage()();
    await ledger.advance({ stream: 'feed', cursor: undefined, epoch: undefined, run: 'r' });
    expect(await ledger.position('feed')).toMatchObject({ stream: 'feed', run: 'r' });
    await ledger.forget('feed');
    expect(await ledger.position('feed')).toBeUndefined();
  });
});

test('A ledger in memory forgets the oldest confirmed keys, names them and says so from then on', async () => {
  const names: string[] = [];
  const ledger = memoryLedger({ keep: 2, onForget: (key) => names.push(key) });
  for (const key of ['a', 'b', 'c']) {
    await ledger.reserve(key);
    await ledger.confirm(key, undefined);
  }
  expect(names).toEqual(['a']);
  expect(ledger.forgotten).toBe(1);
  expect(await ledger.reserve('a')).toEqual({ state: 'reserved', complete: false });
});

test('A ledger in memory forgets no reservation: it is full instead', async () => {
  const ledger = memoryLedger({ keep: 1 });
  await ledger.reserve('a');
  await expect(ledger.reserve('b')).rejects.toThrow(LedgerFull);
});

test('A ledger in SQLite that was told to keep less forgets the oldest, for every later process too', async () => {
  const path = join(folder, 'short.db');
  const ledger = sqliteLedger(path, { keep: 10 });
  for (let made = 0; made < 1_000; made++) {
    await ledger.reserve(`k${made}`);
    await ledger.confirm(`k${made}`, undefined);
  }
  expect(ledger.forgotten).toBe(990);
  await ledger.close();
  const later = sqliteLedger(path);
  expect(await later.reserve('k989')).toEqual({ state: 'reserved', complete: false });
  expect(await later.reserve('k990')).toEqual({ state: 'confirmed' });
  await later.close();
});

test('Within its lease a reservation in Redis is busy for the others, and in doubt after it', async () => {
  const client = await createClient({ url: redis.url }).connect();
  closing.push(() => client.destroy());
  const one = redisLedger(client, { prefix: 'lease:', lease: 60_000 });
  const two = redisLedger(client, { prefix: 'lease:', lease: LEASE });
  await one.reserve('a');
  expect(await two.reserve('a')).toMatchObject({ state: 'busy' });
  await two.reserve('b');
  let answer = await one.reserve('b');
  while (answer.state === 'busy') answer = await one.reserve('b');
  expect(answer).toMatchObject({ state: 'in_doubt' });
});

test('A ledger in Redis that keeps keys for a time says so once that time is over', async () => {
  const client = await createClient({ url: redis.url }).connect();
  closing.push(() => client.destroy());
  await client.set('old:begun', String(Date.now() - 11_000));
  const ledger = redisLedger(client, { prefix: 'old:', keepSeconds: 10 });
  expect(await ledger.reserve('a')).toEqual({ state: 'reserved', complete: false });
  await ledger.confirm('a', undefined);
  expect(await client.ttl('old:event:a')).toBeGreaterThan(0);
});
