import { once } from 'node:events';
import { createServer } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import {
  Client as ClientTwo,
  StreamableHTTPClientTransport as TransportTwo,
} from '@modelcontextprotocol/client';
import { Client as ClientOne } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as TransportOne } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer as McpServerOne } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { McpInstrumentation } from '@sameriver/instrumentation-mcp';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../packages/instrumentation-mcp/examples/memory-event-store.ts';
import type { SdkServer } from '../../packages/instrumentation-mcp/test/sdk-servers.ts';
import { SDKS, startSdkServer } from '../../packages/instrumentation-mcp/test/sdk-servers.ts';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const sse = new SseInstrumentation();
const mcp = new McpInstrumentation();
const closing: (() => Promise<unknown>)[] = [];

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  sse.setTracerProvider(provider);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  exporter.reset();
});
afterAll(() => {
  sse.disable();
  mcp.disable();
  context.disable();
  trace.disable();
});

interface AnyClient {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const CLIENTS: Readonly<Record<string, (url: string) => Promise<AnyClient>>> = {
  'SDK 1.x': async (url) => {
    const client = new ClientOne({ name: 'c', version: '1' });
    await client.connect(new TransportOne(new URL(url)) as never);
    return client;
  },
  'SDK 2.x': async (url) => {
    const client = new ClientTwo({ name: 'c', version: '1' });
    await client.connect(new TransportTwo(new URL(url)));
    return client;
  },
};

/** Lets a client of one SDK call a tool of a server of another, whose answer is polled for. */
async function call(client: string, server: string): Promise<SdkServer> {
  const open = SDKS[server];
  const connect = CLIENTS[client];
  if (open === undefined || connect === undefined) throw new TypeError(`no ${client} or ${server}`);
  const running = await startSdkServer(open, {
    eventStore: new MemoryEventStore(100),
    retryInterval: 1,
  });
  closing.push(() => running.close());
  const asking = await connect(running.url);
  closing.push(() => asking.close());
  await asking.callTool({ name: 'count', arguments: {} });
  return running;
}

function spans(name: string): ReadableSpan[] {
  return exporter.getFinishedSpans().filter((span) => span.name === name);
}

function about(name: string, method: string): Readonly<Record<string, unknown>> {
  const found = spans(name).filter(({ attributes }) => attributes['mcp.method.name'] === method);
  expect(found).toHaveLength(1);
  return found[0]?.attributes ?? {};
}

const PAIRS = Object.keys(CLIENTS).flatMap((client) =>
  Object.keys(SDKS).map((server) => [client, server] as const),
);

describe('a resumption token', () => {
  // A server of 1.x answers 409 for as long as the stream that was polled is open.
  it('continues the call that it was given for, once for each end', async () => {
    const open = SDKS['SDK 2.x'];
    if (open === undefined) throw new TypeError('no server');
    const running = await startSdkServer(open, {
      eventStore: new MemoryEventStore(100),
      retryInterval: 1,
    });
    closing.push(() => running.close());
    const tokens: string[] = [];
    const client = new ClientOne({ name: 'c', version: '1' });
    closing.push(() => client.close());
    await client.connect(new TransportOne(new URL(running.url)) as never);
    const call = { name: 'count', arguments: {} };
    await client.callTool(call, undefined, {
      onresumptiontoken: (token) => void tokens.push(token),
    });
    const [first = ''] = tokens;
    const before = spans('sse connect').length;
    const again = await client.callTool(call, undefined, { resumptionToken: first });
    expect(again.content).toEqual([{ type: 'text', text: 'counted' }]);
    const asked = (span: string) => (): readonly unknown[] =>
      spans(span).filter(({ attributes }) => {
        return attributes['event_stream.cursor.requested'] === first;
      });
    for (const span of ['sse connect', 'sse accept']) {
      await expect.poll(asked(span), { timeout: 20_000 }).toHaveLength(1);
      expect(asked(span)()[0]).toMatchObject({
        attributes: { 'event_stream.mcp.stream': 'continued' },
      });
    }
    expect(spans('sse connect').length).toBeGreaterThan(before);
  });
});

describe('a POST over HTTP/2', () => {
  it('is named by its message too', async () => {
    const server = http2.createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 7, result: {} })}\n\n`);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    closing.push(
      async () => server.close(),
      async () => session.close(),
    );
    const stream = session.request({
      ':method': 'POST',
      ':path': '/mcp',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      'mcp-session-id': 's',
    });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
    stream.write(body.slice(0, 20));
    stream.end(body.slice(20));
    expect(Buffer.concat(await stream.toArray()).toString()).toContain('result');
    await expect.poll(() => spans('sse accept'), { timeout: 20_000 }).toHaveLength(1);
    expect(about('sse accept', 'tools/call')).toMatchObject({
      'jsonrpc.request.id': '7',
      'event_stream.mcp.stream': 'request',
      'event_stream.mcp.era': 'sessions',
    });
  });
});

describe('HTTP with SSE, as in 2024-11-05', () => {
  it.each(['sse connect', 'sse accept'])(
    'is told by its first event on the span %s',
    async (name) => {
      const open = new Map<string | null, SSEServerTransport>();
      const server = createServer(async (request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
        if (pathname === '/messages') {
          await open.get(searchParams.get('sessionId'))?.handlePostMessage(request, response);
          return;
        }
        const transport = new SSEServerTransport('/messages', response);
        open.set(transport.sessionId, transport);
        await new McpServerOne({ name: 's', version: '1' }).connect(transport as never);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      closing.push(async () => {
        server.closeAllConnections();
        server.close();
      });
      const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`);
      const client = new ClientOne({ name: 'c', version: '1' });
      closing.push(() => client.close());
      await client.connect(new SSEClientTransport(url) as never);
      await expect.poll(() => spans(name), { timeout: 20_000 }).toHaveLength(1);
      expect(spans(name)[0]?.attributes).toMatchObject({
        'mcp.protocol.version': '2024-11-05',
        'event_stream.mcp.era': 'http_sse',
        'event_stream.mcp.stream': 'standalone',
        'mcp.session.id': expect.stringMatching(/^[0-9a-f]{16}$/),
      });
    },
  );

  it.each([
    ['of another name', 'event: other\ndata: /messages?sessionId=a\n\n'],
    ['without a session', 'event: endpoint\ndata: {"url":"/x"}\n\n'],
    ['behind another', 'data: x\n\nevent: endpoint\ndata: /messages?sessionId=a\n\n'],
  ])('is not told by an event %s', async (_, body) => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
    await (await fetch(url, { headers: { accept: 'text/event-stream' } })).text();
    await expect.poll(() => spans('sse connect'), { timeout: 20_000 }).toHaveLength(1);
    expect(spans('sse connect')[0]?.attributes).not.toHaveProperty('event_stream.mcp.era');
  });
});

describe.each(PAIRS)('a client of %s with a server of %s', (client, server) => {
  it.each(['sse connect', 'sse accept'])('names the call on the span %s', async (span) => {
    await call(client, server);
    expect(about(span, 'tools/call')).toMatchObject({
      'event_stream.protocol.name': 'mcp_streamable_http',
      'event_stream.mcp.era': 'sessions',
      'event_stream.mcp.stream': 'request',
      'mcp.protocol.version': '2025-11-25',
      'mcp.session.id': expect.stringMatching(/^[0-9a-f]{16}$/),
      'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
    });
  });

  it('keeps the session, its standalone stream and the answer to a call apart', async () => {
    await call(client, server);
    await closing.pop()?.();
    const kinds = (): Set<unknown> =>
      new Set(spans('sse connect').map(({ attributes }) => attributes['event_stream.mcp.stream']));
    await expect
      .poll(kinds, { timeout: 20_000 })
      .toEqual(new Set(['request', 'standalone', 'continued']));
    const sessions = spans('sse accept').map(({ attributes }) => attributes['mcp.session.id']);
    expect(new Set(sessions).size).toBe(1);
  });
});
