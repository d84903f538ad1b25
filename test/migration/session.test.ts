import { createRequire } from 'node:module';
import { SpanKind } from '@opentelemetry/api';
import type { Histogram } from '@opentelemetry/sdk-metrics';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Role, StreamConnection, StreamReport } from '@sameriver/core';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { WebSocketInstrumentation } from '@sameriver/instrumentation-websocket';
import type { SessionServer, SessionServerOptions } from '@sameriver/testkit';
import { sessionProfile, startSessionServer } from '@sameriver/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

type Behaviour = SessionServerOptions['onUpgrade'];

class ManualReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const exporter = new InMemorySpanExporter();
const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });

let reader: ManualReader;
let instrumentations: (SseInstrumentation | WebSocketInstrumentation)[];
let server: SessionServer;
let reports: { readonly role: Role; readonly report: StreamReport }[];
let heard: () => void;

beforeEach(() => {
  exporter.reset();
  reports = [];
  heard = () => undefined;
  const config = {
    profiles: [sessionProfile],
    reportHook: (report: StreamReport, { role }: StreamConnection) => {
      reports.push({ role, report });
      heard();
    },
  };
  reader = new ManualReader();
  const meters = new MeterProvider({ readers: [reader] });
  instrumentations = [new SseInstrumentation(config), new WebSocketInstrumentation(config)];
  for (const instrumentation of instrumentations) {
    instrumentation.setTracerProvider(tracers);
    instrumentation.setMeterProvider(meters);
  }
  // The hook of the WebSocket instrumentation runs when the module is required.
  createRequire(import.meta.url)('ws');
});

afterEach(async () => {
  for (const instrumentation of instrumentations) instrumentation.disable();
  await server.close();
});

/** Both ends have told what became of the migration. */
async function untilBothHave(): Promise<void> {
  const moved = (end: Role): boolean => migrationsOf(end).length > 0;
  while (!moved('client') || !moved('server')) {
    await new Promise<void>((resolve) => {
      heard = resolve;
    });
  }
}

function migrationsOf(end: Role): readonly unknown[] {
  return reports.flatMap(({ role, report: { verdict, missed, migration } }) =>
    role === end && migration !== undefined
      ? [[verdict?.classification, verdict?.reason, missed, migration.outcome]]
      : [],
  );
}

/** Reads and processes the events 1 to 10 of the feed. */
async function readTen(): Promise<AbortController> {
  const feed = new AbortController();
  const response = await fetch(`${server.origin}/session/a/events`, { signal: feed.signal });
  server.emit('a', 10);
  const body = response.body?.getReader();
  const decoder = new TextDecoder();
  for (let text = ''; !text.includes('id: 10\n'); ) {
    const { value, done } = (await body?.read()) ?? { done: true };
    if (done) throw new Error('the feed ended before its tenth event');
    text += decoder.decode(value, { stream: true });
  }
  return feed;
}

/** The client leaves its feed; 11, 12 and 13 are made while nobody is there. */
async function switchOver(): Promise<void> {
  const feed = await readTen();
  feed.abort();
  await server.untilReleased('a');
  server.emit('a', 3);
}

/** 11, 12 and 13 are on their way to a client that has stopped reading. */
async function switchInFlight(): Promise<void> {
  await readTen();
  server.emit('a', 3);
}

type Way = (typeof WAYS)[number][1];

function announce(way: Exclude<Way, 'query'>): Promise<Response> {
  const said =
    way === 'header'
      ? { headers: { 'last-event-id': '10' } }
      : { headers: { 'content-type': 'application/json' }, body: '{"processed":10}' };
  return fetch(`${server.origin}/session/a/upgrade`, { method: 'POST', ...said });
}

/** Ids of all frames until the one with id 14 is there, or what a refused handshake gives: none. */
async function move(query: string): Promise<readonly number[]> {
  const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/session/a/ws${query}`);
  const ids: number[] = [];
  const over = new Promise<void>((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      ids.push((JSON.parse(String(data)) as { readonly id: number }).id);
      if (ids.at(-1) === 14) resolve();
    });
    socket.addEventListener('error', () => resolve());
  });
  socket.addEventListener('open', () => server.emit('a', 1));
  await over;
  await untilBothHave();
  socket.close();
  return ids;
}

async function sums(name: string): Promise<Readonly<Record<string, number>>> {
  const { resourceMetrics } = await reader.collect();
  const all: Record<string, number> = {};
  for (const { metrics } of resourceMetrics.scopeMetrics) {
    for (const { descriptor, dataPoints } of metrics) {
      if (descriptor.name !== name) continue;
      for (const { attributes, value } of dataPoints) {
        const count = typeof value === 'number' ? value : (value as Histogram).count;
        const about =
          attributes['event_stream.migration.outcome'] ?? attributes['event_stream.gap.source'];
        if (count !== 0) all[String(about)] = (all[String(about)] ?? 0) + count;
      }
    }
  }
  return all;
}

const spansNamed = (name: string): readonly ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.name === name);

const WAYS = [
  ['announced by a POST', 'header'],
  ['announced by a POST with its cursor in the body', 'body'],
  ['with its cursor in the query', 'query'],
] as const;

async function migrate(onUpgrade: Behaviour, way: Way, inFlight = false) {
  server = await startSessionServer({ onUpgrade });
  await (inFlight ? switchInFlight() : switchOver());
  if (way === 'query') return move('?last_event_id=10');
  const { ok } = await announce(way);
  return ok ? move('') : untilBothHave().then(() => []);
}

const REPLAYED = ['resumed', 'next_in_sequence', 0, 'replayed'];
const REFUSED = ['refused', 'cursor_conflict', 0, 'refused'];
const LOST = ['reoriginated', 'window_exceeded', 3, 'lossy'];

describe.each(WAYS)(
  'ten events are acknowledged, three more happen, and the move is %s',
  (_, way) => {
    test('M2: a server that replays its ring sends 11, 12 and 13 first', async () => {
      expect(await migrate('replay', way)).toEqual([11, 12, 13, 14]);
      expect(migrationsOf('client')).toEqual([REPLAYED]);
      expect(migrationsOf('server')).toEqual([['unverifiable', 'no_window', 0, 'replayed']]);
      expect(await sums('event_stream.migrations')).toEqual({ replayed: 2 });
      expect(await sums('event_stream.client.gaps')).toEqual({});
    });

    test('M2: a server whose ring holds too little refuses with 409', async () => {
      expect(await migrate('refuse', way)).toEqual([]);
      expect(migrationsOf('client')).toEqual([REFUSED]);
      expect(migrationsOf('server')).toEqual([REFUSED]);
      expect(await sums('event_stream.migrations')).toEqual({ refused: 2 });
    });

    test('M4: a server that attaches to the live tail loses 11, 12 and 13, and both ends count them', async () => {
      expect(await migrate('lose', way)).toEqual([14]);
      expect(migrationsOf('client')).toEqual([LOST]);
      expect(migrationsOf('server')).toEqual([['unverifiable', 'no_window', 3, 'lossy']]);
      expect(await sums('event_stream.migrations')).toEqual({ lossy: 2 });
      expect(await sums('event_stream.client.missed_events')).toEqual({ migration: 3 });
      expect(await sums('event_stream.server.missed_events')).toEqual({ migration: 3 });
      expect(await sums('event_stream.client.duplicate_events')).toEqual({});
    });
  },
);

describe.each(WAYS)(
  'ten events are processed, three more are on their way, and the move is %s',
  (_, way) => {
    test('M2: a server that replays its ring sends again what it had sent', async () => {
      expect(await migrate('replay', way, true)).toEqual([11, 12, 13, 14]);
      expect(migrationsOf('client')).toEqual([REPLAYED]);
      expect(migrationsOf('server')).toEqual([['resumed', 'replay_observed', 0, 'replayed']]);
    });

    test('M4: a server that attaches to the live tail knows that 13 was sent and 10 handed over', async () => {
      expect(await migrate('lose', way, true)).toEqual([14]);
      expect(migrationsOf('client')).toEqual([LOST]);
      expect(migrationsOf('server')).toEqual([LOST]);
    });
  },
);

describe('the spans of a migration over real sockets', () => {
  test('M1: lead to both connections, at both ends', async () => {
    await migrate('lose', 'header');
    const spans = spansNamed('stream migrate');
    expect(spans.map(({ kind }) => kind).sort()).toEqual([SpanKind.INTERNAL, SpanKind.CLIENT]);
    const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId;
    const ends = [
      [SpanKind.CLIENT, 'sse connect', 'websocket connect'],
      [SpanKind.INTERNAL, 'sse accept', 'websocket accept'],
    ] as const;
    for (const [kind, left, taken] of ends) {
      const span = spans.find((one) => one.kind === kind);
      expect(span?.links.map(({ context }) => context.spanId)).toEqual([
        idOf(spansNamed(left)[0]),
        idOf(spansNamed(taken)[0]),
      ]);
      expect(span?.attributes).toMatchObject({
        'event_stream.migration.outcome': 'lossy',
        'event_stream.missed': 3,
        'event_stream.protocol.name': 'session',
      });
    }
  });
});
