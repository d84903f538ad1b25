import type { RequestListener } from 'node:http';
import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { StopTap } from '@sameriver/telemetry';
import type { Loopback } from '@sameriver/testkit';
import { loopback, RecordingRecorder, RecordingTimeline } from '@sameriver/testkit';
import { createClient } from 'graphql-sse';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startClientTap } from './client-tap.ts';

const STREAM = { 'content-type': 'text/event-stream' };
const RECONNECT = {
  initialReconnectionDelay: 5,
  maxReconnectionDelay: 5,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 3,
};

let timeline: RecordingTimeline;
let recorder: RecordingRecorder;
let stopTap: StopTap | undefined;
let server: Loopback | undefined;

beforeEach(() => {
  timeline = new RecordingTimeline('client');
  recorder = new RecordingRecorder();
});

afterEach(async () => {
  stopTap?.();
  stopTap = undefined;
  await server?.close();
  server = undefined;
});

function startTap(): void {
  stopTap = startClientTap({ timeline, recorder, now: () => 0, later: () => () => undefined });
}

async function serve(handler: RequestListener): Promise<URL> {
  await server?.close();
  server = await loopback(handler);
  return new URL(`${server.origin}/mcp`);
}

async function bodyOf(
  req: Parameters<RequestListener>[0],
): Promise<{ id?: number; method: string }> {
  let text = '';
  for await (const chunk of req) text += chunk;
  return JSON.parse(text);
}

const sse = (id: string, message: unknown): string =>
  `id: ${id}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`;
const notice = (data: string): unknown => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data },
});
const initialized = (id: number | undefined): unknown => ({
  jsonrpc: '2.0',
  id,
  result: {
    protocolVersion: '2025-06-18',
    capabilities: { logging: {}, tools: {} },
    serverInfo: { name: 's', version: '1' },
  },
});

/** A server of the streamable HTTP transport whose standing stream breaks off once. */
function mcpServer(asked: string[]): RequestListener {
  let streams = 0;
  return async (req, res) => {
    const cursor = req.headers['last-event-id'];
    if (req.method === 'DELETE') return void res.writeHead(200).end();
    if (req.method === 'GET') {
      asked.push(`GET ${cursor ?? '-'}`);
      streams += 1;
      res.writeHead(200, STREAM);
      if (streams === 1) res.end(sse('e1', notice('one')));
      else res.write(sse('e2', notice('two')));
      return;
    }
    const { id, method } = await bodyOf(req);
    asked.push(`POST ${method}`);
    if (id === undefined) return void res.writeHead(202).end();
    if (method === 'initialize') {
      res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' });
      return void res.end(JSON.stringify(initialized(id)));
    }
    res.writeHead(200, STREAM);
    const result = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'h\u00e9' }] } };
    res.end(sse('c1', result));
  };
}

interface AnyClient {
  fallbackNotificationHandler?: (notification: never) => Promise<void>;
  connect(transport: never): Promise<void>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

type MakeClient = () => AnyClient;
type MakeTransport = (url: URL) => unknown;

const about = { name: 'c', version: '1' };
const MCP: ReadonlyArray<readonly [string, MakeClient, MakeTransport]> = [
  [
    '@modelcontextprotocol/sdk 1',
    () => new Client1(about) as never,
    (url) => new Transport1(url, { reconnectionOptions: RECONNECT }),
  ],
  [
    '@modelcontextprotocol/client 2',
    () => new Client2(about) as never,
    (url) => new Transport2(url, { reconnectionOptions: RECONNECT }),
  ],
];

async function converse(client: AnyClient, transport: unknown): Promise<unknown[]> {
  const saw: unknown[] = [];
  const both = Promise.withResolvers<void>();
  client.fallbackNotificationHandler = async (notification: { params: { data: string } }) => {
    saw.push(notification.params.data);
    if (saw.length === 2) both.resolve();
  };
  await client.connect(transport as never);
  await both.promise;
  const result = await client.callTool({ name: 'w', arguments: {} });
  await client.close();
  return [...saw, result];
}

describe.each(MCP)('%s', (_, makeClient, makeTransport) => {
  test('a session whose stream breaks off and is resumed is the same with us', async () => {
    const run = async (): Promise<unknown> => {
      const asked: string[] = [];
      const url = await serve(mcpServer(asked));
      return { saw: await converse(makeClient(), makeTransport(url)), asked: asked.sort() };
    };
    const without = await run();
    startTap();
    expect(await run()).toEqual(without);
    await timeline.untilOver(3);

    const told = timeline.connections.map(({ request, steps, text }) => ({
      asked: `${request.method} ${request.header('last-event-id') ?? '-'}`,
      steps: steps.slice(1),
      text,
    }));
    expect(told).toEqual([
      { asked: 'GET -', steps: ['response 200', 'end eof'], text: sse('e1', notice('one')) },
      { asked: 'GET e1', steps: ['response 200', 'end aborted'], text: sse('e2', notice('two')) },
      {
        asked: 'POST -',
        steps: ['response 200', 'end eof'],
        text: expect.stringContaining('h\u00e9'),
      },
    ]);
    expect(recorder.errors).toEqual([]);
  });

  test('the JSON of a call is at hand where its answer is judged', async () => {
    const bodies: unknown[] = [];
    timeline.wanted = () => false;
    startTap();
    const open = timeline.open.bind(timeline);
    timeline.open = (request, at) => {
      bodies.push(request.body?.());
      return open(request, at);
    };
    const url = await serve(mcpServer([]));
    await converse(makeClient(), makeTransport(url));
    await timeline.untilOver(3);
    expect(bodies).toEqual([
      undefined,
      undefined,
      expect.objectContaining({ jsonrpc: '2.0', method: 'tools/call' }),
    ]);
  });
});

test('the HTTP+SSE transport of @modelcontextprotocol/sdk 1 is the same with us', async () => {
  const run = async (): Promise<unknown> => {
    let stream: Parameters<RequestListener>[1] | undefined;
    const url = await serve(async (req, res) => {
      if (req.method === 'GET') {
        stream = res;
        res.writeHead(200, STREAM);
        res.write('event: endpoint\ndata: /messages\n\n');
        return;
      }
      const { id, method } = await bodyOf(req);
      res.writeHead(202).end();
      const result = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'ok' }] } };
      const answer = method === 'initialize' ? initialized(id) : result;
      if (id !== undefined) stream?.write(sse(`m${id}`, answer));
    });
    const client = new Client1(about);
    await client.connect(new SSEClientTransport(url) as never);
    const result = await client.callTool({ name: 'w', arguments: {} });
    await client.close();
    return result;
  };
  const without = await run();
  startTap();
  expect(await run()).toEqual(without);
  await timeline.untilOver(1);
  expect(timeline.connections).toHaveLength(1);
  expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'end aborted']);
  expect(timeline.connections[0]?.text).toContain('event: endpoint');
});

test('graphql-sse subscribes by POST, and is the same with us', async () => {
  const body = [
    'event: next\ndata: {"data":{"tick":1}}\n\n',
    'event: next\ndata: {"data":{"tick":2}}\n\nevent: complete\ndata:\n\n',
  ];
  const run = async (): Promise<unknown[]> => {
    const url = await serve((_req, res) => {
      res.writeHead(200, STREAM);
      res.write(body[0]);
      res.end(body[1]);
    });
    const client = createClient({ url: url.href, retryAttempts: 0 });
    const saw: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      client.subscribe(
        { query: 'subscription { tick }' },
        { next: (value) => saw.push(value), error: reject, complete: resolve },
      );
    });
    client.dispose();
    return saw;
  };
  const without = await run();
  startTap();
  expect(await run()).toEqual(without);
  expect(without).toHaveLength(2);
  await timeline.untilOver(1);
  expect(timeline.connections[0]?.text).toBe(body.join(''));
  expect(timeline.connections[0]?.request.method).toBe('POST');
});
