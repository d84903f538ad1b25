import { createRequire } from 'node:module';
import type { Attributes } from '@opentelemetry/api';
import {
  context,
  DiagLogLevel,
  diag,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
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
import type { Profile, Role, StreamReport } from '@sameriver/core';
import { StreamSpanProcessor } from '@sameriver/telemetry';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StandardLibrary, WsPeer } from '../test/harness.ts';
import { CLIENTS, connect, rawPeer, untilClosed, wsPeer } from '../test/harness.ts';
import { WebSocketInstrumentation } from './instrumentation.ts';
import type { WebSocketInstrumentationConfig } from './types.ts';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({
  spanProcessors: [new StreamSpanProcessor(), new SimpleSpanProcessor({ exporter })],
});
const tracer = provider.getTracer('app');

/** Where this application keeps its cursor and its positions. */
const TASKS: Profile = {
  name: 'tasks',
  match: { transport: 'websocket', path: '^/tasks' },
  messages: 'json',
  cursor: { sent: ['query:since'], received: ['json:/seq'], codec: 'int' },
};

let instrumentation: WebSocketInstrumentation | undefined;
let reports: StreamReport[];
let roles: Role[];
let heard: () => void;
const open: { close(): Promise<void> }[] = [];

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  registerInstrumentations({
    tracerProvider: provider,
    instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()],
  });
  // The hook of the HTTP instrumentation runs when the module is required.
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
  roles = [];
  heard = () => undefined;
});

afterEach(async () => {
  instrumentation?.disable();
  instrumentation = undefined;
  for (const peer of open.splice(0)) await peer.close();
});

function start(config: WebSocketInstrumentationConfig = {}): WebSocketInstrumentation {
  instrumentation = new WebSocketInstrumentation({
    profiles: [TASKS],
    reportHook: (report, { role }) => {
      reports.push(report);
      roles.push(role);
      heard();
    },
    ...config,
  });
  instrumentation.setTracerProvider(provider);
  return instrumentation;
}

async function untilReported(count: number): Promise<void> {
  while (reports.length < count) {
    await new Promise<void>((resolve) => {
      heard = resolve;
    });
  }
}

async function peer(...args: Parameters<typeof wsPeer>): Promise<WsPeer> {
  const made = await wsPeer(...args);
  open.push(made);
  return made;
}

function named(name: string): ReadableSpan[] {
  return exporter.getFinishedSpans().filter((span) => span.name === name);
}

function childOf(parent: ReadableSpan | undefined, name: string): ReadableSpan | undefined {
  const { spanId } = parent?.spanContext() ?? {};
  return named(name).find((span) => span.parentSpanContext?.spanId === spanId);
}

function attributesOf(span: ReadableSpan | undefined): Attributes {
  return span?.attributes ?? {};
}

function verdictsOf(role: Role): unknown[] {
  return reports.filter((_, index) => roles[index] === role).map(({ verdict }) => verdict);
}

/** Reconnects as soon as a connection is lost, from within its close event. */
function reconnecting(library: StandardLibrary, url: string, times: number): Promise<void> {
  return new Promise((resolve) => {
    const again = (left: number): void => {
      const socket = connect(library, url);
      socket.addEventListener('close', () => {
        if (left === 0) resolve();
        else again(left - 1);
      });
    };
    again(times);
  });
}

describe.each(CLIENTS)('a WebSocket of $name', (library) => {
  test('that reconnects twenty times makes twenty traces, linked backwards', async () => {
    start();
    const { url } = await peer((socket) => {
      socket.send('x');
      socket.terminate();
    });
    await tracer.startActiveSpan('page', async (page) => {
      await reconnecting(library, url, 20);
      page.end();
    });
    await untilReported(42);
    const roots = named('stream reconnect');
    expect(roots).toHaveLength(20);
    expect(new Set(roots.map((span) => span.spanContext().traceId)).size).toBe(20);
    const connects = named('websocket connect');
    for (const root of roots) {
      const connected = childOf(root, 'websocket connect');
      expect(connected?.kind).toBe(SpanKind.CLIENT);
      expect(attributesOf(connected)).toMatchObject({
        'event_stream.classification': 'unverifiable',
        'event_stream.reason': 'no_profile',
        'http.response.status_code': 101,
      });
      const [link] = connected?.links ?? [];
      const previous = connects.find((span) => span.spanContext().spanId === link?.context.spanId);
      expect(previous?.spanContext().traceId).not.toBe(root.spanContext().traceId);
      const accepted = childOf(childOf(connected, 'GET'), 'websocket accept');
      expect(accepted?.kind).toBe(SpanKind.INTERNAL);
    }
    expect(named('websocket accept')).toHaveLength(21);
    expect(named('GET')).toHaveLength(21);
  });

  test('is judged by the profile of its application, whatever the library', async () => {
    start();
    let from = 41;
    const { url } = await peer((socket) => {
      for (const seq of [from, from + 1]) socket.send(JSON.stringify({ seq }));
      from = 1;
      socket.terminate();
    });
    await untilClosed(connect(library, `${url}/tasks?since=40&token=secret`));
    await untilClosed(connect(library, `${url}/tasks?since=42&token=secret`));
    const fallenBack = { classification: 'reoriginated', reason: 'cursor_not_advanced' };
    expect(verdictsOf('client')[1]).toEqual(fallenBack);
    expect(verdictsOf('server')[1]).toEqual(fallenBack);
    expect(attributesOf(named('websocket connect')[1])).toMatchObject({
      'event_stream.protocol.name': 'tasks',
      'event_stream.classification': 'reoriginated',
      'event_stream.cursor.requested': '42',
      'event_stream.cursor.first': '1',
    });
    const told = JSON.stringify(
      exporter
        .getFinishedSpans()
        .map(({ name, attributes, events, instrumentationScope }) =>
          instrumentationScope.name.startsWith('@sameriver') ? { name, attributes, events } : {},
        ),
    );
    expect(told).not.toContain('secret');
    expect(told).not.toContain('since=');
  });

  test('that is refused has an error and the status on its span', async () => {
    start();
    const made = await rawPeer((socket) => {
      socket.end('HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n');
    });
    open.push(made);
    const socket = connect(library, `${made.url}/tasks?since=9`);
    await new Promise((resolve) => socket.addEventListener('error', resolve));
    const [connected] = named('websocket connect');
    expect(connected?.status.code).toBe(SpanStatusCode.ERROR);
    expect(attributesOf(connected)).toMatchObject({
      'http.response.status_code': 409,
      'event_stream.classification': 'refused',
      'event_stream.reason': 'cursor_conflict',
    });
    const [accepted] = named('websocket accept');
    expect(attributesOf(accepted)).toMatchObject({ 'http.response.status_code': 409 });
  });

  test('that reaches nobody has an error on its span', async () => {
    start();
    const made = await rawPeer((socket) => socket.destroy());
    open.push(made);
    const socket = connect(library, made.url);
    await new Promise((resolve) => socket.addEventListener('error', resolve));
    const [connected] = named('websocket connect');
    expect(connected?.status.code).toBe(SpanStatusCode.ERROR);
    expect(attributesOf(connected)['error.type']).toMatch(/^(ECONNRESET|UND_ERR_SOCKET)$/);
  });

  test('has its first span below that of the caller, which its listeners see too', async () => {
    start();
    const { url } = await peer((socket) => {
      socket.send('x');
      socket.on('message', () => socket.close(1000));
    });
    const seen: (string | undefined)[] = [];
    const note = (): unknown => seen.push(trace.getActiveSpan()?.spanContext().spanId);
    const page = tracer.startSpan('page');
    const socket = context.with(trace.setSpan(context.active(), page), () => {
      const made = connect(library, url);
      made.addEventListener('open', note);
      made.addEventListener('message', () => {
        note();
        made.send('bye');
      });
      made.addEventListener('close', note);
      return made;
    });
    await untilClosed(socket);
    page.end();
    const { spanId, traceId } = page.spanContext();
    expect(childOf(named('page')[0], 'websocket connect')?.spanContext().traceId).toBe(traceId);
    expect(seen).toEqual([spanId, spanId, spanId]);
  });

  test('is not followed when the instrumentation was told so, or is disabled', async () => {
    const { url } = await peer((socket) => socket.close(1000));
    start({ client: false });
    await untilClosed(connect(library, url));
    await untilReported(1);
    expect(named('websocket connect')).toEqual([]);
    expect(named('websocket accept')).toHaveLength(1);
    instrumentation?.disable();
    await untilClosed(connect(library, url));
    expect(named('websocket accept')).toHaveLength(1);
    instrumentation?.setConfig({ server: false });
    instrumentation?.enable();
    await untilClosed(connect(library, url));
    expect(named('websocket accept')).toHaveLength(1);
    expect(named('websocket connect')).toHaveLength(1);
  });

  test('can be left out by the application', async () => {
    const asked: unknown[] = [];
    start({
      ignoreRequest: ({ target, method, header }, role) => {
        asked.push([role, method, target, header('upgrade')?.toLowerCase()]);
        return true;
      },
    });
    const { url } = await peer((socket) => socket.close(1000));
    await untilClosed(connect(library, `${url}/feed`));
    expect(named('websocket connect').concat(named('websocket accept'))).toEqual([]);
    expect(asked.map((one) => (one as unknown[]).slice(0, 3))).toEqual([
      ['client', 'GET', '/feed'],
      ['server', 'GET', '/feed'],
    ]);
  });
});

test('a profile that cannot be read is refused when the instrumentation is made', () => {
  const profiles = [{ name: 'odd', cursor: { received: ['nowhere'] } }] as Profile[];
  expect(() => new WebSocketInstrumentation({ profiles })).toThrow(/profile "odd".*nowhere/);
});

test('it says once, for the debug log, what it sees', () => {
  const lines: string[] = [];
  const quiet = (): void => {};
  const debug = (...args: unknown[]): void => {
    lines.push(args.join(' '));
  };
  diag.setLogger(
    { debug, verbose: quiet, info: quiet, warn: quiet, error: quiet },
    { logLevel: DiagLogLevel.DEBUG, suppressOverrideMessage: true },
  );
  start({ server: false });
  diag.disable();
  const said = lines.filter((line) => line.includes('instrumentation-websocket'));
  expect(said.join(' ')).toMatch(/client: every copy of ws.*server: switched off/);
});
