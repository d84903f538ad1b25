import type { StreamConnection, StreamReport } from '@sameriver/core';
import { expect, test } from 'vitest';
import { createVerdictLog } from './verdict-log.ts';

const report = (change: Partial<StreamReport> = {}): StreamReport => ({
  stream: undefined,
  verdict: { classification: 'unverifiable', reason: 'no_events' },
  revised: false,
  missed: 'unknown',
  duplicates: 0,
  atLeast: false,
  epoch: undefined,
  previousEpoch: undefined,
  epochIsSession: false,
  requestedCursor: undefined,
  firstCursor: undefined,
  lastCursor: undefined,
  replayed: undefined,
  ...change,
});

const connection = () => ({}) as StreamConnection;
const reoriginated = { classification: 'reoriginated', reason: 'epoch_changed' } as const;

test('R16: what stands in the end is the revised verdict with the counts of the whole connection', () => {
  let playing = 0;
  const { observer, verdicts } = createVerdictLog(() => playing);
  const one = connection();
  playing = 1;
  observer.settled(one, report());
  playing = 2;
  observer.revised(one, report({ verdict: reoriginated, revised: true }));
  observer.ended(one, 'eof', [report({ verdict: reoriginated, revised: true, duplicates: 3 })]);
  expect(verdicts()).toEqual([
    { connection: 1, ...reoriginated, missed: 'unknown', duplicates: 3 },
  ]);
});

test('a first connection has no verdict, and an end without reports takes none away', () => {
  const { observer, verdicts } = createVerdictLog(() => 0);
  const [first, refused] = [connection(), connection()];
  observer.settled(first, report({ verdict: undefined }));
  observer.settled(refused, report());
  observer.ended(refused, 'eof', []);
  expect(verdicts()).toHaveLength(1);
});

test('R19: each stream of a connection has its own line, in order of connections', () => {
  let playing = 1;
  const { observer, verdicts } = createVerdictLog(() => playing);
  const [later, earlier] = [connection(), connection()];
  observer.settled(later, report({ stream: 'a' }));
  observer.settled(later, report({ stream: 'b', verdict: reoriginated }));
  playing = 0;
  observer.settled(earlier, report());
  expect(verdicts().map(({ connection: index, stream }) => [index, stream])).toEqual([
    [0, undefined],
    [1, 'a'],
    [1, 'b'],
  ]);
});
