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

test('R16: the revised verdict stands in the end, with the counts of the whole connection', () => {
  const { opened, observer, verdicts } = createVerdictLog(() => 1);
  const one = connection();
  opened(one);
  observer.settled(one, report());
  observer.revised(one, report({ verdict: reoriginated, revised: true }));
  expect(verdicts()).toMatchObject([{ ...reoriginated, duplicates: 0 }]);
  observer.ended(one, 'eof', [report({ verdict: reoriginated, revised: true, duplicates: 3 })]);
  expect(verdicts()).toEqual([
    { connection: 1, ...reoriginated, missed: 'unknown', duplicates: 3 },
  ]);
});

test('a verdict belongs to the connection that was played when it was opened', () => {
  let playing = 0;
  const { opened, observer, verdicts } = createVerdictLog(() => playing);
  const [later, earlier] = [connection(), connection()];
  opened(earlier);
  playing = 1;
  opened(later);
  observer.settled(later, report());
  observer.settled(earlier, report());
  expect(verdicts().map(({ connection: index }) => index)).toEqual([0, 1]);
});

test('L6: a redirect takes the attempt along to the connection to which it leads', () => {
  const { opened, moved, observer, verdicts } = createVerdictLog(() => 0);
  const [before, redirected] = [connection(), connection()];
  opened(before);
  opened(redirected);
  moved(2);
  observer.settled(before, report());
  observer.settled(redirected, report());
  expect(verdicts().map(({ connection: index }) => index)).toEqual([0, 2]);
});

test('a first connection has no verdict, and an end without reports takes none away', () => {
  const { opened, observer, verdicts } = createVerdictLog(() => 0);
  const [first, refused] = [connection(), connection()];
  opened(first);
  opened(refused);
  observer.settled(first, report({ verdict: undefined }));
  observer.settled(refused, report());
  observer.ended(refused, 'eof', []);
  expect(verdicts()).toHaveLength(1);
});

test('R19: each stream of a connection has its own line, and a single one needs no name', () => {
  const { opened, observer, verdicts } = createVerdictLog(() => 1);
  const one = connection();
  opened(one);
  observer.settled(one, report({ stream: 'a' }));
  expect(verdicts()).toEqual([expect.not.objectContaining({ stream: 'a' })]);
  observer.settled(one, report({ stream: 'b', verdict: reoriginated }));
  expect(verdicts().map(({ stream }) => stream)).toEqual(['a', 'b']);
});

test('of two attempts at one connection the last one counts', () => {
  const { opened, observer, verdicts } = createVerdictLog(() => 1);
  const [first, again] = [connection(), connection()];
  opened(first);
  observer.settled(first, report());
  opened(again);
  observer.settled(again, report({ verdict: reoriginated }));
  expect(verdicts()).toMatchObject([{ connection: 1, ...reoriginated }]);
});
