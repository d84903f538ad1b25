import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Verdict } from '@sameriver/core';
import { McpInstrumentation } from '@sameriver/instrumentation-mcp';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const VERSION = '2026-07-28';
const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const verdicts: Verdict[] = [];
const sse = new SseInstrumentation({
  reportHook: ({ verdict }) => {
    if (verdict !== undefined) verdicts.push(verdict);
  },
});
sse.setTracerProvider(provider);
const mcp = new McpInstrumentation();

let url: string;
let handler: ReturnType<typeof createMcpHandler>;
let drop: () => void;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: 's', version: '1' },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.registerTool('t', {}, async () => ({ content: [] }));
    return server;
  });
  const handle = toNodeHandler(handler);
  const server = createServer(
    (request, response) => void handle(request as never, response as never),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  drop = () => server.closeAllConnections();
  closing.push(() => server.close(), drop);
});
afterEach(() => {
  exporter.reset();
  verdicts.length = 0;
});
afterAll(() => {
  for (const close of closing.reverse()) close();
  sse.disable();
  mcp.disable();
});

function listens(name: string): ReadableSpan[] {
  return exporter
    .getFinishedSpans()
    .filter((span) => span.name === name)
    .filter(({ attributes }) => attributes['mcp.method.name'] === 'subscriptions/listen');
}

describe(`MCP ${VERSION}, which knows no sessions`, () => {
  it('re-originates by design, and so does a server that ignores Last-Event-ID', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const body = {
      jsonrpc: '2.0',
      id: 9,
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta: meta },
    };
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': VERSION,
        'mcp-method': 'subscriptions/listen',
        'last-event-id': '4118',
      },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    const reader = answer.body?.getReader();
    await reader?.read();
    handler.notify.toolsChanged();
    await reader?.read();
    await expect
      .poll(() => verdicts, { timeout: 20_000 })
      .toContainEqual({ classification: 'reoriginated', reason: 'protocol_never_resumes' });
    await reader?.cancel();
  });

  it.each(['sse connect', 'sse accept'])('is named on %s, without a session', async (name) => {
    const client = new Client(
      { name: 'c', version: '1' },
      { versionNegotiation: { mode: { pin: VERSION } } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    await client.listen({ toolsListChanged: true });
    handler.notify.toolsChanged();
    drop();
    await expect.poll(() => listens(name).length, { timeout: 20_000 }).toBeGreaterThan(0);
    const [span] = listens(name);
    expect(span?.attributes).toMatchObject({
      'mcp.protocol.version': VERSION,
      'event_stream.mcp.era': 'stateless',
      'event_stream.mcp.stream': 'request',
      'jsonrpc.request.id': expect.any(String),
    });
    expect(span?.attributes).not.toHaveProperty('mcp.session.id');
    await client.close();
  });
});
