import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Context } from '@opentelemetry/api';
import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import type { StopTap } from '@sameriver/telemetry';
import { RecordingHost } from '@sameriver/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startServerTap } from './server-tap.ts';

const SSE = { 'content-type': 'text/event-stream' };
const EVENT = 'data: a\n\n';
const provider = new TracerProvider();
const tracer = provider.getTracer('application');
const instrumentation = new HttpInstrumentation({ enabled: false });

let host: RecordingHost;
let stop: StopTap;
let server: Server | undefined;

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  instrumentation.setTracerProvider(provider);
  instrumentation.enable();
});

afterAll(() => {
  instrumentation.disable();
  context.disable();
});

beforeEach(() => {
  host = new RecordingHost('server');
  stop = startServerTap(host);
});

afterEach(() => {
  stop();
  server?.closeAllConnections();
  server?.close();
});

async function serve(handler: RequestListener): Promise<string> {
  // The instrumentation patches what `require` returns, as it does in an application.
  const http = createRequire(import.meta.url)('node:http') as typeof import('node:http');
  server = http.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function started(index: number): { readonly context: Context; readonly httpSpan: ReadableSpan } {
  const connection = host.timeline.connections[index];
  const start = connection && host.recorder.starts.get(connection);
  if (start?.httpSpan === undefined) throw new Error(`Connection ${index} has no HTTP span.`);
  return { context: start.context, httpSpan: start.httpSpan as unknown as ReadableSpan };
}

test('the HTTP span is the request\u2019s SERVER span, also below a span of the application', async () => {
  let inner: Context | undefined;
  const origin = await serve((_, res) => {
    tracer.startActiveSpan('handler', (span) => {
      inner = context.active();
      res.writeHead(200, SSE).end(EVENT);
      span.end();
    });
  });
  await (await fetch(`${origin}/feed`)).text();
  const { httpSpan, context: active } = started(0);
  expect(httpSpan.kind).toBe(SpanKind.SERVER);
  expect(httpSpan.attributes['http.target'] ?? httpSpan.attributes['url.path']).toBe('/feed');
  expect(active).toBe(inner);
  expect(trace.getSpan(active)).not.toBe(httpSpan);
});

test('each connection keeps the context of its own request, whoever writes to it later', async () => {
  const subscribers: ServerResponse[] = [];
  const origin = await serve((req, res) => {
    if (req.url === '/publish') {
      for (const subscriber of subscribers) subscriber.write(EVENT);
      res.end('ok');
      return;
    }
    res.writeHead(200, SSE).write(': hello\n\n');
    subscribers.push(res);
  });
  const reader = (await fetch(`${origin}/feed`)).body?.getReader();
  await reader?.read();
  await (await fetch(`${origin}/publish`)).text();
  await reader?.read();
  await reader?.cancel();
  expect(host.timeline.connections).toHaveLength(1);
  expect(host.timeline.connections[0]?.text).toBe(`: hello\n\n${EVENT}`);
  const { httpSpan, context: active } = started(0);
  expect(httpSpan.attributes['http.target'] ?? httpSpan.attributes['url.path']).toBe('/feed');
  expect(trace.getSpan(active)).toBe(httpSpan);
});

test('without an HTTP span the active span stands in for it', async () => {
  instrumentation.disable();
  try {
    let own: unknown;
    const origin = await serve((_, res) => {
      tracer.startActiveSpan('handler', (span) => {
        own = span;
        res.writeHead(200, SSE).end(EVENT);
        span.end();
      });
    });
    await (await fetch(origin)).text();
    expect(started(0).httpSpan).toBe(own);
  } finally {
    instrumentation.enable();
  }
});
