import { expect, test } from 'vitest';
import type { StreamReport } from '../connection.ts';
import { createClientTimeline } from './client-timeline.ts';

/** The first connection of this process, and what it is judged to be. */
function judge(
  held: { cursor: string | undefined; epoch: string | undefined } | undefined,
  sent: string | undefined,
  continuity: string,
): StreamReport | undefined {
  let report: StreamReport | undefined;
  const timeline = createClientTimeline({
    observer: {
      settled: (_, settled) => {
        report = settled;
      },
      revised: () => undefined,
      inStream: () => undefined,
      ended: () => undefined,
    },
  });
  const connection = timeline.open(
    {
      transport: 'sse',
      method: 'GET',
      origin: 'http://localhost',
      target: '/feed',
      header: (name) => (name === 'last-event-id' ? sent : undefined),
      ...(held && { held }),
    },
    0,
  );
  const headers = new Map([
    ['content-type', 'text/event-stream'],
    ['stream-continuity', continuity],
  ]);
  connection.response(200, (name) => headers.get(name));
  connection.pushString('id: 8\ndata: x\n\n');
  return report;
}

const HELD = { cursor: '7', epoch: 'g1' };

test('Without a held position a first connection has no verdict', () => {
  expect(judge(undefined, undefined, 'gen="g1"')?.verdict).toBeUndefined();
});

test('A held position makes the first connection of a process a reconnect (L1), with its cursor or without', () => {
  expect(judge(HELD, undefined, 'gen="g1"')?.verdict?.reason).toBe('cursor_not_sent');
  expect(judge(HELD, '7', 'gen="g1", dense')?.verdict).toEqual({
    classification: 'resumed',
    reason: 'next_in_sequence',
  });
});

test('A held epoch is the one that the next one is compared with (R2)', () => {
  expect(judge(HELD, '7', 'gen="g2", dense')?.verdict?.reason).toBe('epoch_changed');
  expect(judge(HELD, '7', 'gen="g2", dense')?.previousEpoch).toBe('g1');
});
