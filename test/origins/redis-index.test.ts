import type { IssuedRecord } from '@sameriver/telemetry';
import { redisOriginIndex } from '@sameriver/telemetry/origin-redis';
import { beforeEach, describe, expect, it } from 'vitest';
import { useRedis } from './use-redis.ts';

const redis = useRedis();
beforeEach(() => redis.client.flushall());

function record(issuer: string, more: Partial<IssuedRecord> = {}): IssuedRecord {
  const epoch = { digest: '0123456789abcdef', text: 'log "7"' };
  const ids = { runs: [[1, 20] as const], tags: [5, 2 ** 31 - 1] };
  return { stream: 's', issuer, instance: 'web 1', epoch, writtenAgo: 0, ids, ...more };
}

const KEY = 'sameriver:origins:s';
const index = (): ReturnType<typeof redisOriginIndex> => redisOriginIndex(redis.client);
const names = async (): Promise<string[]> =>
  (await index().issuersOf('s')).issuers.map(({ issuer }) => issuer).sort();

describe('an index in Redis', () => {
  it('gives back what it was told, and how long ago that was by one clock', async () => {
    await index().issued([record('a.1', { writtenAgo: 60_000.4 }), record('b.1', { stream: 't' })]);
    const { issuers, unreadable } = await index().issuersOf('s');
    const { stream: _, ...told } = record('a.1');
    expect([issuers.map((known) => ({ ...known, writtenAgo: 0 })), unreadable]).toEqual([
      [told],
      0,
    ]);
    expect(issuers[0]?.writtenAgo).toBeGreaterThanOrEqual(60_000);
  });

  it('keeps one record of an issuer, and forgets a stream after its time to live', async () => {
    const own = redisOriginIndex(redis.client, { prefix: 'mine:', ttl: 60 });
    await own.issued([record('a.1')]);
    await own.issued([record('a.1', { epoch: undefined })]);
    expect((await own.issuersOf('s')).issuers.map(({ epoch }) => epoch)).toEqual([undefined]);
    expect(await redis.client.keys('*')).toEqual(['mine:s']);
    expect(await redis.client.pttl('mine:s')).toBeGreaterThan(50_000);
  });

  it('keeps 32 issuers of a stream: the one that wrote longest ago goes', async () => {
    const many = Array.from({ length: 32 }, (_, n) =>
      record(`${n}.1`, { writtenAgo: n === 7 ? 9_000 : 10 }),
    );
    await index().issued(many);
    await index().issued([record('new.1', { writtenAgo: 99_000 })]);
    const kept = await names();
    expect([kept.length, kept.includes('7.1'), kept.includes('new.1')]).toEqual([32, false, true]);
  });
});

describe('what stands in Redis and is not ours', () => {
  it.each([
    ['no record', 'x'],
    ['no time', '{"instance":"a","runs":[],"tags":[]}'],
    ['no JSON', '1700000000000 {'],
    ['another shape', '1700000000000 [1,2]'],
    ['no instance', '1700000000000 {"runs":[],"tags":[]}'],
    ['a name of 10,000 characters', `1700000000000 {"instance":"${'a'.repeat(10_000)}"}`],
    ['a run that is none', '1700000000000 {"instance":"a","runs":[[9,1]],"tags":[]}'],
    ['a run of text', '1700000000000 {"instance":"a","runs":[["1","9"]],"tags":[]}'],
    ['a run of infinity', '1700000000000 {"instance":"a","runs":[[0,1e999]],"tags":[]}'],
    [
      'a hundred runs',
      `1700000000000 {"instance":"a","runs":[${'[1,2],'.repeat(99)}[1,2]],"tags":[]}`,
    ],
    ['a tag out of range', '1700000000000 {"instance":"a","runs":[],"tags":[4294967296]}'],
    ['an epoch that is no list', '1700000000000 {"instance":"a","epoch":"e","runs":[],"tags":[]}'],
    ['an epoch without a hash', '1700000000000 {"instance":"a","epoch":["e"],"runs":[],"tags":[]}'],
  ])('is passed over and counted: %s', async (_, value) => {
    await index().issued([record('a.1')]);
    await redis.client.hset(KEY, 'foreign', value);
    const { issuers, unreadable } = await index().issuersOf('s');
    expect([issuers.map(({ issuer }) => issuer), unreadable]).toEqual([['a.1'], 1]);
  });

  it.each([
    ['a text', () => redis.client.set(KEY, 'x'.repeat(1_000_000))],
    ['a list', () => redis.client.rpush(KEY, 'x')],
    [
      'a hash of 10,000 fields',
      () =>
        redis.client.hset(
          KEY,
          Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [n, 'x'])),
        ),
    ],
  ])('is not read, and makes way for a record: %s', async (_, make) => {
    await make();
    expect(await index().issuersOf('s')).toEqual({ issuers: [], unreadable: 1 });
    await index().issued([record('a.1')]);
    expect(await names()).toEqual(['a.1']);
  });

  it('is survived: scripts that Redis has forgotten', async () => {
    await index().issued([record('a.1')]);
    await redis.client.script('FLUSH');
    expect(await names()).toEqual(['a.1']);
  });
});
