import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Migration, MigrationOutcome, StreamReport, Verdict } from '@sameriver/core';
import { describe, expect, test } from 'vitest';
import type { FakeConnection, Telemetry } from '../test/harness.ts';
import {
  connection,
  metric,
  moved,
  REFUSED,
  RESUMED,
  report,
  telemetry,
  UNVERIFIABLE,
} from '../test/harness.ts';

const start = { context: ROOT_CONTEXT };
const LOST: Verdict = { classification: 'reoriginated', reason: 'window_exceeded' };

const migration = (outcome: MigrationOutcome, askedAt: number): Migration => ({
  from: 'sse',
  to: 'websocket',
  outcome,
  askedAt,
});

/** A stream is read, or written, as SSE for ten seconds; then it moves. */
function move(
  t: Telemetry,
  facts: Partial<StreamReport>,
  role: 'client' | 'server' = 'client',
): FakeConnection {
  const feed = connection({ role });
  t.recorder.opened(feed, start);
  t.recorder.settled(feed, report());
  t.now += 10_000;
  t.recorder.ended(feed, 'aborted', [report()]);
  const socket = connection({
    role,
    transport: 'websocket',
    protocol: 'session',
    ordinal: 1,
    resumeRequested: true,
    previous: feed.context,
  });
  t.recorder.opened(socket, start);
  t.now += 250;
  t.recorder.settled(socket, report(facts));
  return socket;
}

const linksOf = ({ links }: ReadableSpan): Record<string, string> =>
  Object.fromEntries(
    links.map(({ attributes, context }) => [
      attributes?.['event_stream.link.type'],
      context.spanId,
    ]),
  );

const logged = (t: Telemetry, name: string) =>
  t.logs.getFinishedLogRecords().filter(({ eventName }) => eventName === name);

describe('the span of a migration', () => {
  test('M1: is in the trace of the WebSocket, and linked to both connections', () => {
    const t = telemetry();
    move(t, { verdict: RESUMED, missed: 0, migration: migration('replayed', t.now + 10_000) });
    const [feed, socket] = ['sse connect', 'websocket connect'].map((name) => t.span(name));
    const span = t.span('stream migrate');
    expect(span.kind).toBe(SpanKind.CLIENT);
    expect(span.spanContext().traceId).toBe(socket?.spanContext().traceId);
    expect(span.parentSpanContext?.spanId).toBe(t.span('stream reconnect').spanContext().spanId);
    expect(linksOf(span)).toEqual({
      previous_connection: feed?.spanContext().spanId,
      next_connection: socket?.spanContext().spanId,
    });
    expect(span.attributes).toEqual({
      'event_stream.protocol.name': 'session',
      'event_stream.role': 'client',
      'event_stream.migration.from': 'sse',
      'event_stream.migration.to': 'websocket',
      'event_stream.migration.outcome': 'replayed',
      'event_stream.reason': 'cursor_echoed',
      'event_stream.missed': 0,
    });
  });

  test('M1: begins with the request that announced the move, and ends at the first frame', () => {
    const t = telemetry();
    move(t, { verdict: RESUMED, migration: migration('replayed', t.now + 8_250) });
    expect(t.span('stream migrate').duration).toEqual([2, 0]);
  });

  test('M2: of a server is INTERNAL, below the span of its WebSocket', () => {
    const t = telemetry();
    const facts = { verdict: UNVERIFIABLE, missed: 3, migration: migration('lossy', t.now) };
    move(t, facts, 'server');
    const span = t.span('stream migrate');
    expect(span.kind).toBe(SpanKind.INTERNAL);
    expect(span.parentSpanContext?.spanId).toBe(t.span('websocket accept').spanContext().spanId);
    expect(span.attributes).toMatchObject({
      'event_stream.migration.outcome': 'lossy',
      'event_stream.missed': 3,
    });
  });

  test('M2: is there for a server that can give no verdict', () => {
    const t = telemetry();
    move(t, { migration: migration('unverifiable', t.now) }, 'server');
    expect(t.span('stream migrate').attributes).not.toHaveProperty('event_stream.missed');
  });

  test('M1: is one, whatever number of streams moved with the connection', () => {
    const t = telemetry();
    const socket = move(t, { verdict: RESUMED, migration: migration('replayed', t.now) });
    t.recorder.settled(socket, report({ verdict: LOST, migration: migration('lossy', t.now) }));
    expect(t.span('stream migrate').attributes).toMatchObject({
      'event_stream.migration.outcome': 'replayed',
    });
  });

  test('M1: shows on the span of the WebSocket as well, and nothing of it elsewhere', () => {
    const t = telemetry();
    move(t, { verdict: RESUMED, migration: migration('replayed', t.now) });
    const named = 'event_stream.migration.outcome';
    expect(t.span('websocket connect').attributes[named]).toBe('replayed');
    expect(t.span('sse connect').attributes).not.toHaveProperty(named);
  });

  test('M1: is not made where the connection is not sampled', () => {
    const t = telemetry();
    const page = trace.wrapSpanContext({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      traceFlags: 0,
    });
    const socket = connection({ role: 'server', transport: 'websocket', resumeRequested: true });
    t.recorder.opened(socket, { context: trace.setSpan(ROOT_CONTEXT, page) });
    t.recorder.settled(
      socket,
      report({ verdict: RESUMED, migration: migration('replayed', t.now) }),
    );
    expect(t.spans()).toEqual([]);
  });
});

describe('the counts of a migration', () => {
  test.each([
    ['replayed', RESUMED, 0],
    ['refused', REFUSED, 0],
    ['lossy', LOST, 3],
    ['unverifiable', UNVERIFIABLE, 'unknown'],
  ] as const)(
    'M2: %s is counted once, and what it lost has its own source',
    async (outcome, verdict, missed) => {
      const t = telemetry();
      move(t, { verdict, missed, migration: migration(outcome, t.now) });
      expect(await moved(t.reader, 'event_stream.migrations')).toEqual({
        [`migration.from=sse,migration.outcome=${outcome},migration.to=websocket`]: 1,
      });
      const lost = missed === 3 ? { 'gap.source=migration,load.level=low': 3 } : {};
      expect(await moved(t.reader, 'event_stream.client.missed_events')).toEqual(lost);
    },
  );

  test('M4: a loss that shows only at the end has the same source', async () => {
    const t = telemetry();
    const facts = { verdict: LOST, migration: migration('lossy', t.now) };
    const socket = move(t, facts);
    t.recorder.ended(socket, 'close:1006', [report({ ...facts, missed: 3 })]);
    expect(await moved(t.reader, 'event_stream.client.gaps')).toEqual({
      'gap.source=migration,load.level=low': 1,
    });
  });

  test('R16: a revision counts its loss, and not the migration again', async () => {
    const t = telemetry();
    const socket = move(t, { verdict: RESUMED, migration: migration('replayed', t.now) });
    t.recorder.revised(
      socket,
      report({ verdict: LOST, revised: true, missed: 3, migration: migration('lossy', t.now) }),
    );
    expect(Object.values(await moved(t.reader, 'event_stream.migrations'))).toEqual([1]);
    expect(await moved(t.reader, 'event_stream.client.missed_events')).toEqual({
      'gap.source=migration,load.level=low': 3,
    });
  });

  test('begin at 0, so that the first one is an increase', async () => {
    const { dataPoints } = await metric(telemetry().reader, 'event_stream.migrations');
    const outcomes = dataPoints.map(({ attributes, value }) => [
      attributes['event_stream.migration.outcome'],
      value,
    ]);
    expect(outcomes).toEqual([
      ['replayed', 0],
      ['refused', 0],
      ['lossy', 0],
      ['unverifiable', 0],
    ]);
  });
});

describe('the log record of a migration', () => {
  test.each([
    ['replayed', 'INFO'],
    ['unverifiable', 'INFO'],
    ['refused', 'WARN'],
    ['lossy', 'WARN'],
  ] as const)('M2: tells %s as %s', (outcome, severity) => {
    const t = telemetry();
    move(t, { verdict: LOST, missed: 3, migration: migration(outcome, t.now) });
    const [record, another] = logged(t, 'event_stream.migrate');
    expect(another).toBeUndefined();
    expect(record?.severityText).toBe(severity);
    expect(record?.attributes).toMatchObject({
      'event_stream.migration.outcome': outcome,
      'event_stream.missed': 3,
    });
  });
});
