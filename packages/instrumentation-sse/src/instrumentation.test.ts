import type { Channel } from 'node:diagnostics_channel';
import { channel } from 'node:diagnostics_channel';
import type { RequestListener } from 'node:http';
import { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Attributes } from '@opentelemetry/api';
import { context, DiagLogLevel, diag, propagation, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { StreamReport } from '@sameriver/core';
import { StreamSpanProcessor } from '@sameriver/telemetry';
import type { Loopback } from '@sameriver/testkit';
import { loopback } from '@sameriver/testkit';
import { EventSource } from 'eventsource5';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SseInstrumentation } from './instrumentation.ts';
import type { SseInstrumentationConfig } from './types.ts';

const { EventSource: LaunchDarkly } = createRequire(import.meta.url)('launchdarkly-eventsource');

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({
  spanProcessors: [new StreamSpanProcessor(), new SimpleSpanProcessor({ exporter })],
});
const tracer = provider.getTracer('app');
const STREAM = { 'content-type': 'text/event-stream' };

let server: Loopback;
let instrumentation: SseInstrumentation;
let reports: StreamReport[];
let heard: () => void;

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  registerInstrumentations({
    tracerProvider: provider,
    instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()],
  });
  createRequire(import.meta.url)('http');
});

afterAll(() => {
  trace.disable();
  propagation.disable();
  context.disable();
});

beforeEach(() => {
  exporter.reset();
  reports = [];
  heard = () => undefined;
});

afterEach(async () => {
  instrumentation.disable();
  await server?.close();
});

function start(config: SseInstrumentationConfig = {}): SseInstrumentation {
  instrumentation = new SseInstrumentation({
    reportHook: (report) => {
      reports.push(report);
      heard();
    },
    ...config,
  });
  instrumentation.setTracerProvider(provider);
  return instrumentation;
}

async function untilReported(verdicts: number): Promise<void> {
  while (reports.filter(({ verdict }) => verdict !== undefined).length < verdicts) {
    await new Promise<void>((resolve) => {
      heard = resolve;
    });
  }
}

/** One event, then the end; the id goes on from the cursor. */
const oneEventEach: RequestListener = (req, res) => {
  const id = Number(req.headers['last-event-id'] ?? 0) + 1;
  res.writeHead(200, STREAM);
  res.end(`retry: 1\nid: ${id}\ndata: x\n\n`);
};

function named(name: string): ReadableSpan[] {
  return exporter.getFinishedSpans().filter((span) => span.name === name);
}

function attributesOf(span: ReadableSpan | undefined): Attributes {
  return span?.attributes ?? {};
}

async function reconnectTwentyTimes(Source: new (url: string) => { close(): void }): Promise<void> {
  server = await loopback(oneEventEach);
  await tracer.startActiveSpan('page', async (page) => {
    const source = new Source(`${server.origin}/feed`);
    await untilReported(20);
    source.close();
    page.end();
  });
}

class QuickLaunchDarkly extends LaunchDarkly {
  onerror = (): void => undefined;
  constructor(url: string) {
    super(url, { initialRetryDelayMillis: 1, maxBackoffMillis: 1 });
  }
}

describe.each<readonly [string, new (url: string) => { close(): void }]>([
  ['eventsource, over undici', EventSource as never],
  ['launchdarkly-eventsource, over node:http', QuickLaunchDarkly as never],
])('twenty reconnects of %s', (_, Source) => {
  test('are twenty traces, each with the HTTP span below the attempt, linked backwards', async () => {
    start({ server: false });
    await reconnectTwentyTimes(Source);
    const roots = named('stream reconnect').slice(0, 20);
    expect(roots).toHaveLength(20);
    expect(new Set(roots.map((span) => span.spanContext().traceId)).size).toBe(20);
    const connects = named('sse connect');
    for (const root of roots) {
      const { traceId, spanId } = root.spanContext();
      const connect = connects.find((span) => span.spanContext().traceId === traceId);
      expect(connect?.kind).toBe(SpanKind.CLIENT);
      expect(connect?.parentSpanContext?.spanId).toBe(spanId);
      const [link] = connect?.links ?? [];
      const previous = connects.find((span) => span.spanContext().spanId === link?.context.spanId);
      expect(previous?.spanContext().traceId).not.toBe(traceId);
      expect(attributesOf(connect)['event_stream.previous.trace_id']).toBe(link?.context.traceId);
      const http = named('GET').find(
        (span) => span.parentSpanContext?.spanId === connect?.spanContext().spanId,
      );
      expect(http?.kind).toBe(SpanKind.CLIENT);
      expect(attributesOf(http)['event_stream.classification']).toBe('unverifiable');
      expect(attributesOf(http)['event_stream.reason']).toBe('no_epoch');
    }
    // The first connection belongs to the page; its reconnects do not.
    const page = named('page')[0]?.spanContext().traceId;
    const inPage = connects.filter((span) => span.spanContext().traceId === page);
    expect(inPage).toHaveLength(1);
  });
});

test('both ends of one reconnect are judged, in one trace', async () => {
  const log = [1, 2, 3, 4].map((id) => `id: ${id}\ndata: ${id}\n\n`);
  server = await loopback((req, res) => {
    res.writeHead(200, STREAM);
    const cursor = req.headers['last-event-id'];
    // The second process has never heard of the first: it counts from the beginning.
    res.end(`retry: 1\n\n${cursor === undefined ? log.join('') : log[0]}`);
  });
  start();
  const source = new EventSource(`${server.origin}/feed`);
  await untilReported(2);
  source.close();
  const [accept] = named('sse accept').slice(1);
  const connect = named('sse connect').find(
    (span) => span.spanContext().traceId === accept?.spanContext().traceId,
  );
  expect(attributesOf(connect)).toMatchObject({
    'event_stream.classification': 'reoriginated',
    'event_stream.reason': 'cursor_not_advanced',
    'event_stream.cursor.requested': '4',
    'event_stream.cursor.first': '1',
    'event_stream.role': 'client',
  });
  expect(attributesOf(accept)).toMatchObject({
    'event_stream.classification': 'reoriginated',
    'event_stream.role': 'server',
  });
});

test('disabled, it sees nothing; enabled again, it goes on', async () => {
  server = await loopback(oneEventEach);
  const read = async (): Promise<string> => {
    const headers = { accept: 'text/event-stream', 'last-event-id': '5' };
    return (await fetch(`${server.origin}/feed`, { headers })).text();
  };
  start({ server: false });
  await read();
  await untilReported(1);
  instrumentation.disable();
  expect(instrumentation.isEnabled()).toBe(false);
  await read();
  expect(reports).toHaveLength(1);
  instrumentation.enable();
  await read();
  await untilReported(2);
  expect(reports).toHaveLength(2);
});

test('disabled, it leaves nothing behind: no subscriber, no publish of its own, no patch', () => {
  const channels = [
    ...['create', 'headers', 'trailers', 'error', 'bodyChunkReceived'].map(
      (moment) => `undici:request:${moment}`,
    ),
    'http.client.request.created',
    'http.client.request.start',
    'http.client.request.error',
    'http.client.response.finish',
    'http.server.request.start',
    'http2.server.stream.created',
    'http2.server.stream.finish',
  ].map((name) => channel(name));
  const { prototype } = ServerResponse;
  const state = (): unknown => [
    channels.map((each) => [each.name, subscribersOf(each), Object.hasOwn(each, 'publish')]),
    ['write', 'end', 'emit', 'writeHead'].map((name) =>
      Object.getOwnPropertyDescriptor(prototype, name),
    ),
  ];
  const before = state();
  for (let times = 0; times < 3; times += 1) {
    start();
    expect(state()).not.toEqual(before);
    instrumentation.disable();
    expect(state()).toEqual(before);
  }
});

/** Not public: how many listen is nowhere else to be read. */
function subscribersOf(each: Channel): number {
  return (each as Channel & { _subscribers?: readonly unknown[] })._subscribers?.length ?? 0;
}

test('a role that is switched off is not followed, and a request may be ignored by role', async () => {
  server = await loopback(oneEventEach);
  const asked: string[] = [];
  start({
    server: false,
    ignoreRequest: ({ target, method, header }, role) => {
      asked.push(`${role} ${method} ${target} ${header('last-event-id')}`);
      return target === '/private';
    },
  });
  const headers = { accept: 'text/event-stream', 'last-event-id': '5' };
  for (const path of ['/private', '/feed']) {
    await (await fetch(server.origin + path, { headers })).text();
  }
  await untilReported(1);
  expect(reports).toHaveLength(1);
  expect(asked).toContain('client GET /feed 5');
  expect(named('sse accept')).toEqual([]);
});

test('it says once, at debug level, what it has hooked and what it could not', () => {
  const said: string[] = [];
  const log = (...words: unknown[]): void => void said.push(words.join(' '));
  const logger = { debug: log, error: log, info: log, verbose: log, warn: log };
  diag.setLogger(logger, { logLevel: DiagLogLevel.DEBUG, suppressOverrideMessage: true });
  try {
    start();
    const ours = said.filter((line) => line.includes('@sameriver/instrumentation-sse'));
    expect(ours.join('\n')).toContain(`Node ${process.versions.node}`);
    expect(ours.join('\n')).toMatch(/client: fetch[\s\S]*not seen/);
    expect(ours.join('\n')).toMatch(/server: HTTP\/1\.x[\s\S]*not seen/);
    said.length = 0;
    instrumentation.enable();
    expect(said.filter((line) => line.includes('@sameriver/instrumentation-sse'))).toEqual([]);
  } finally {
    diag.disable();
  }
});

test('a profile that cannot be read is named where it is given', () => {
  expect(
    () =>
      new SseInstrumentation({
        profiles: [{ name: 'mine', cursor: { received: ['nowhere'] } } as never],
      }),
  ).toThrow(/nowhere/);
});
