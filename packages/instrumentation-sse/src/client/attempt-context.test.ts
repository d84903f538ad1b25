import type { RequestListener } from 'node:http';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { Span } from '@opentelemetry/api';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
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
import type { StopTap } from '@sameriver/telemetry';
import { standBeforeHttp } from '@sameriver/telemetry';
import type { Loopback } from '@sameriver/testkit';
import { loopback, RecordingRecorder, RecordingTimeline } from '@sameriver/testkit';
import * as undici6 from 'undici6';
import * as undici8 from 'undici8';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startClientTap } from './client-tap.ts';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer('test');
const undiciInstrumentation = new UndiciInstrumentation();
const httpInstrumentation = new HttpInstrumentation({
  disableIncomingRequestInstrumentation: true,
  ignoreOutgoingRequestHook: ({ path }) => path === '/ignored',
});
let disableInstrumentations: () => void;

let timeline: RecordingTimeline;
let recorder: RecordingRecorder;
let attempts: Span[];
let stopTap: StopTap;
let server: Loopback;
let traceparents: Array<string | undefined>;

const routes: RequestListener = (req, res) => {
  traceparents.push(req.headers['traceparent'] as string | undefined);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write('id: 1\ndata: a\n\n');
  res.end('id: 2\ndata: b\n\n');
};

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  disableInstrumentations = registerInstrumentations({
    tracerProvider: provider,
    instrumentations: [httpInstrumentation, undiciInstrumentation],
  });
  // The hook of the HTTP instrumentation runs when the module is required.
  createRequire(import.meta.url)('http');
  standInFront();
});

afterAll(() => {
  disableInstrumentations();
  trace.disable();
  propagation.disable();
  context.disable();
});

beforeEach(async () => {
  exporter.reset();
  attempts = [];
  traceparents = [];
  timeline = new RecordingTimeline('client');
  recorder = new RecordingRecorder();
  recorder.contextFor = (_connection, start) => {
    const span = tracer.startSpan('sse connect', { kind: SpanKind.CLIENT }, start.context);
    attempts.push(span);
    return trace.setSpan(start.context, span);
  };
  server = await loopback(routes);
  stopTap = startTap();
});

afterEach(async () => {
  stopTap();
  await server.close();
});

function startTap(): StopTap {
  return startClientTap({ timeline, recorder, now: () => 0, later: () => () => undefined });
}

function standInFront(): void {
  standBeforeHttp('http:');
}

function httpSpans(): ReadableSpan[] {
  return exporter.getFinishedSpans().filter(({ name }) => name === 'GET' || name === 'POST');
}

/** The names of the active spans that the application finds in each of its own callbacks. */
type Found = Record<string, string | undefined>;
type Ask = (path: string, headers?: Record<string, string>) => Promise<Found>;

function activeName(): string | undefined {
  return (trace.getActiveSpan() as (Span & { name?: string }) | undefined)?.name;
}

const byFetch =
  (doFetch: typeof fetch): Ask =>
  async (path, headers = { accept: 'text/event-stream' }) => {
    const pending = doFetch(server.origin + path, { headers });
    const found: Found = { called: activeName() };
    const response = await pending;
    found['head'] = activeName();
    const reader = response.body?.getReader();
    await reader?.read();
    found['chunk'] = activeName();
    while (!(await reader?.read())?.done) found['chunk'] = activeName();
    found['end'] = activeName();
    return found;
  };

const byNodeHttp: Ask = (path, headers = { accept: 'text/event-stream' }) =>
  new Promise((resolve, reject) => {
    const found: Found = {};
    const request = http.get(server.origin + path, { headers }, (response) => {
      found['head'] = activeName();
      response.on('data', () => {
        found['chunk'] = activeName();
      });
      response.on('end', () => {
        found['end'] = activeName();
        resolve(found);
      });
    });
    found['called'] = activeName();
    request.on('socket', () => {
      found['socket'] = activeName();
    });
    request.on('error', reject);
  });

const WAYS: ReadonlyArray<readonly [string, Ask]> = [
  ['global fetch', byFetch(fetch)],
  ['undici 6', byFetch(undici6.fetch as never)],
  ['undici 8', byFetch(undici8.fetch as never)],
  ['node:http', byNodeHttp],
];

describe.each(WAYS)('%s', (_, ask) => {
  test('the HTTP span of an attempt is a child of the span of the attempt', async () => {
    await tracer.startActiveSpan('app', async (app) => {
      await ask('/feed');
      app.end();
    });
    const [attempt] = attempts;
    const [httpSpan] = httpSpans();
    expect(attempts).toHaveLength(1);
    expect(httpSpans()).toHaveLength(1);
    expect(httpSpan?.parentSpanContext?.spanId).toBe(attempt?.spanContext().spanId);
    // What the server gets is the HTTP span, so that its spans land in the same trace.
    const { traceId, spanId } = httpSpan?.spanContext() ?? {};
    expect(traceparents).toEqual([`00-${traceId}-${spanId}-01`]);
  });

  test('a request that is no attempt keeps its HTTP span below the caller', async () => {
    await tracer.startActiveSpan('app', async (app) => {
      await ask('/feed');
      await ask('/plain', { accept: 'application/json' });
      const plain = httpSpans().at(-1);
      expect(plain?.parentSpanContext?.spanId).toBe(app.spanContext().spanId);
      app.end();
    });
  });

  test('a stream that nobody asked for belongs to the caller, from the time of the request', async () => {
    const before = Date.now();
    await tracer.startActiveSpan('app', async (app) => {
      await ask('/completions', { accept: 'application/json' });
      const start = recorder.starts.get(timeline.connections[0] as never);
      expect(start?.context && trace.getSpan(start.context)?.spanContext()).toEqual(
        (httpStack() ?? app).spanContext(),
      );
      expect(start?.startTime).toBeGreaterThanOrEqual(before);
      expect(start?.startTime).toBeLessThanOrEqual(Date.now());
      app.end();
    });

    // node:http makes requests inside of the HTTP span.
    function httpStack(): { spanContext(): unknown } | undefined {
      return ask === byNodeHttp ? httpSpans()[0] : undefined;
    }
  });

  test('the application finds in its callbacks the contexts that it finds without us', async () => {
    const inApp = (): Promise<Found> =>
      tracer.startActiveSpan('app', async (app) => {
        // The first request opens the socket, on which the second one runs.
        const found = { first: await ask('/feed'), again: await ask('/feed') };
        app.end();
        return Object.fromEntries(
          Object.entries(found).flatMap(([when, names]) =>
            Object.entries(names).map(([where, name]) => [`${when} ${where}`, name]),
          ),
        );
      });
    const withUs = await inApp();
    expect(attempts).toHaveLength(2);
    stopTap();
    await server.close();
    server = await loopback(routes);
    expect(withUs).toEqual(await inApp());
    expect(withUs['first called']).toBe('app');
  });
});

test('it does not matter whether the HTTP instrumentation subscribed before or after', async () => {
  undiciInstrumentation.disable();
  undiciInstrumentation.enable();
  await byFetch(fetch)('/late');
  stopTap();
  stopTap = startTap();
  await byFetch(fetch)('/early');
  const parents = httpSpans().map((span) => span.parentSpanContext?.spanId);
  expect(parents).toEqual(attempts.map((span) => span.spanContext().spanId));
  expect(parents).toHaveLength(2);
});

test('a request that the HTTP instrumentation ignores leaves no context of ours behind', async () => {
  await tracer.startActiveSpan('app', async (app) => {
    const found = await byNodeHttp('/ignored');
    expect(httpSpans()).toEqual([]);
    expect(attempts).toHaveLength(1);
    expect(found).toEqual({ called: 'app', socket: 'app', head: 'app', chunk: 'app', end: 'app' });
    app.end();
  });
});

test('arguments that node:http refuses throw as ever, and leave an attempt without a response', () => {
  const bad = { headers: { accept: 'text/event-stream', 'bad name': 'x' } };
  expect(() => http.get(`${server.origin}/`, bad)).toThrow(
    'Header name must be a valid HTTP token',
  );
  expect(timeline.connections[0]?.steps.at(-1)).toBe('end aborted');
});

test('the HTTP instrumentation can be disabled and enabled around us', async () => {
  const ours = http.get;
  httpInstrumentation.disable();
  expect(http.get).not.toBe(ours);
  await byNodeHttp('/plain');
  expect(httpSpans()).toEqual([]);
  httpInstrumentation.enable();
  createRequire(import.meta.url)('http');
  await byNodeHttp('/first');
  await byNodeHttp('/second');
  const [first, second] = httpSpans();
  // Its wrapper is in front again: the first attempt tells us so, the second is right.
  expect(first?.parentSpanContext).toBeUndefined();
  expect(recorder.starts.get(timeline.connections[1] as never)?.httpSpan).toBeDefined();
  expect(second?.parentSpanContext?.spanId).toBe(attempts.at(-1)?.spanContext().spanId);
});

test('the carrier of a stream over node:http is known as soon as it is asked for', async () => {
  await byNodeHttp('/feed');
  const [connection] = timeline.connections;
  const carrier = recorder.carriers.get(connection as never);
  expect(carrier?.spanContext()).toEqual(httpSpans()[0]?.spanContext());
});
