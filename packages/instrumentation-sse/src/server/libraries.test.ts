import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import type { PSKCallbackNegotation } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { RecordingHost } from '@sameriver/testkit';
import { expect, test } from 'vitest';
import { startServerTap } from './server-tap.ts';

/*
 * The real packages, loaded by Node and not by the test runner, so that they and the tap share one
 * `node:http`. Each row sends its stream to a client twice, without the tap and with it.
 */
const load = createRequire(import.meta.url);

const EVENTS = ['h\u00e9llo', '\u{1F600}', 'third'];
const TEXT = EVENTS.map((data, i) => `id: ${i + 1}\ndata: ${data}\n\n`).join('');

interface Running {
  /** Asks for the stream and answers with its bytes, decoded from any content coding. */
  read(): Promise<Buffer>;
  close(): Promise<unknown>;
}

interface Row {
  readonly library: string;
  start(): Promise<Running>;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function closing(server: Server): Promise<unknown> {
  return new Promise((resolve) => {
    server.close(resolve);
    if (server instanceof http.Server) server.closeAllConnections();
  });
}

async function readHttp1(url: string, options: https.RequestOptions = {}): Promise<Buffer> {
  const ask = url.startsWith('https:') ? https.request : http.request;
  const headers = { accept: 'text/event-stream', ...options.headers };
  const request = ask(url, { agent: false, ...options, headers });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  return 'accept-encoding' in headers ? gunzipSync(body) : body;
}

async function readHttp2(
  url: string,
  options: http2.SecureClientSessionOptions = {},
): Promise<Buffer> {
  const { origin, pathname } = new URL(url);
  const session = http2.connect(origin, options);
  try {
    const headers = { ':path': pathname, accept: 'text/event-stream' };
    return Buffer.concat(await session.request(headers).toArray());
  } finally {
    session.close();
  }
}

/** A server of Node's own, read over HTTP/1.1. */
async function onHttp1(handler: RequestListener, options = {}): Promise<Running> {
  const server = http.createServer(handler);
  const port = await listen(server);
  return {
    read: () => readHttp1(`http://127.0.0.1:${port}/feed`, options),
    close: () => closing(server),
  };
}

async function onHttp2(handler: (...args: never[]) => void): Promise<Running> {
  const server = http2.createServer(handler as never);
  const port = await listen(server);
  return {
    read: () => readHttp2(`http://127.0.0.1:${port}/feed`),
    close: () => closing(server),
  };
}

// A pre-shared key stands in for a certificate, which would have to be kept here with its key.
const PSK = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;
const SERVER_PSK = { ...PSK, pskCallback: () => Buffer.alloc(16, 7) };
const CLIENT_PSK = {
  ...PSK,
  pskCallback: (): PSKCallbackNegotation => ({ psk: Buffer.alloc(16, 7), identity: 'test' }),
  checkServerIdentity: () => undefined,
};

const plain: RequestListener = (_, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of TEXT.split(/(?<=\n\n)/)) res.write(event);
  res.end();
};

function expressApp(...middleware: unknown[]): RequestListener {
  const express = load('express');
  const app = express();
  const router = express.Router();
  for (const each of middleware) app.use(each);
  router.get('/', async (_: unknown, res: http.ServerResponse & { flush?(): void }) => {
    res.setHeader('content-type', 'text/event-stream');
    for (const event of TEXT.split(/(?<=\n\n)/)) {
      res.write(event);
      res.flush?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    res.end();
  });
  app.use('/feed', router);
  return app;
}

async function fastify(options: object, read: (url: string) => Promise<Buffer>): Promise<Running> {
  const app = load('fastify')(options);
  await app.register(load('@fastify/sse'));
  app.get('/feed', { sse: true }, async (_: unknown, reply: FastifyReply) => {
    for (const [i, data] of EVENTS.entries()) await reply.sse.send({ id: `${i + 1}`, data });
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { read: () => read(`${url}/feed`), close: () => app.close() };
}

interface FastifyReply {
  readonly sse: { send(event: object): Promise<void> };
}

interface HonoStream {
  writeSSE(event: object): Promise<void>;
}

function honoApp(): { fetch: unknown } {
  const { Hono } = load('hono');
  const { streamSSE } = load('hono/streaming');
  const app = new Hono();
  app.get('/feed', (c: unknown) =>
    streamSSE(c, async (stream: HonoStream) => {
      for (const [i, data] of EVENTS.entries()) await stream.writeSSE({ id: `${i + 1}`, data });
    }),
  );
  return app;
}

function koaApp(): RequestListener {
  const Koa = load('koa');
  const app = new Koa();
  app.use((ctx: { type: string; body: unknown }) => {
    ctx.type = 'text/event-stream';
    const body = new PassThrough();
    ctx.body = body;
    body.write(TEXT);
    body.end();
  });
  return app.callback();
}

async function nest(): Promise<Running> {
  load('reflect-metadata');
  const { Controller, Module, Sse } = load('@nestjs/common');
  const { NestFactory } = load('@nestjs/core');
  const { from } = load('rxjs');
  class Feed {
    feed(): unknown {
      return from(EVENTS.map((data) => ({ data })));
    }
  }
  const method = Object.getOwnPropertyDescriptor(Feed.prototype, 'feed');
  Sse('feed')(Feed.prototype, 'feed', method);
  Controller()(Feed);
  class Application {}
  Module({ controllers: [Feed] })(Application);
  const app = await NestFactory.create(Application, { logger: false });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { read: () => readHttp1(`http://127.0.0.1:${port}/feed`), close: () => app.close() };
}

function graphqlHandler(): RequestListener {
  const { createHandler } = load('graphql-sse/lib/use/http');
  const { GraphQLObjectType, GraphQLSchema, GraphQLString } = load('graphql');
  const type = GraphQLString;
  const events = async function* (): AsyncGenerator<object> {
    for (const data of EVENTS) yield { feed: data };
  };
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { any: { type } } }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: { feed: { type, subscribe: events } },
    }),
  });
  return createHandler({ schema });
}

interface McpServer {
  registerTool(name: string, options: object, run: () => Promise<object>): void;
  connect(transport: unknown): Promise<void>;
}

function greeter(Server: new (info: object) => McpServer, inputSchema: unknown): McpServer {
  const server = new Server({ name: 'server', version: '1' });
  server.registerTool('greet', { description: 'greets', inputSchema }, async () => ({
    content: EVENTS.map((text) => ({ type: 'text', text })),
  }));
  return server;
}

interface McpTransport {
  readonly sessionId: string;
  handleRequest(req: IncomingMessage, res: http.ServerResponse): Promise<void>;
  handlePostMessage(req: IncomingMessage, res: http.ServerResponse): Promise<void>;
}

/** One transport for each session, as the examples of the SDK do it. */
function sessions(
  Transport: new (options: object) => McpTransport,
  server: () => McpServer,
): RequestListener {
  const open = new Map<string, McpTransport>();
  return async (req, res) => {
    let transport = open.get(String(req.headers['mcp-session-id']));
    if (transport === undefined) {
      const created = new Transport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id: string) => void open.set(id, created),
      });
      transport = created;
      await server().connect(transport);
    }
    await transport.handleRequest(req, res);
  };
}

const call = (id: number, method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const HELLO = call(1, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'client', version: '1' },
});
const GREET = call(2, 'tools/call', { name: 'greet', arguments: {} });

/** Opens a session, calls the one tool and answers with the bytes of both event streams. */
async function streamableHttp(handler: RequestListener): Promise<Running> {
  const server = http.createServer(handler);
  const port = await listen(server);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = (body: string, session: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...session },
      body,
    });
  return {
    async read() {
      const hello = await post(HELLO);
      const session = { 'mcp-session-id': hello.headers.get('mcp-session-id') ?? '' };
      return Buffer.from((await hello.text()) + (await (await post(GREET, session)).text()));
    },
    close: () => closing(server),
  };
}

/** The same over the older transport: one stream, and a POST for each message. */
async function httpWithSse(handler: RequestListener): Promise<Running> {
  const server = http.createServer(handler);
  const port = await listen(server);
  const origin = `http://127.0.0.1:${port}`;
  return {
    async read() {
      let text = '';
      const waiting = [HELLO, GREET];
      const ready = [/data: (\/message\S*)\n/, /serverInfo.*\n/];
      const stream = await fetch(`${origin}/sse`);
      const body = Readable.fromWeb(stream.body as never).setEncoding('utf8');
      for await (const chunk of body) {
        text += chunk;
        if (text.includes('third')) break;
        const path = ready[0]?.exec(text)?.[1];
        const next = ready[2 - waiting.length]?.test(text) ? waiting.shift() : undefined;
        if (next === undefined) continue;
        const headers = { 'content-type': 'application/json' };
        await fetch(origin + path, { method: 'POST', headers, body: next });
      }
      return Buffer.from(text);
    },
    close: () => closing(server),
  };
}

function legacySse(): RequestListener {
  const { SSEServerTransport } = load('@modelcontextprotocol/sdk/server/sse.js');
  const { McpServer } = load('@modelcontextprotocol/sdk/server/mcp.js');
  const open = new Map<string | null, McpTransport>();
  return async (req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost');
    if (url.pathname === '/message') {
      return open.get(url.searchParams.get('sessionId'))?.handlePostMessage(req, res);
    }
    const transport: McpTransport = new SSEServerTransport('/message', res);
    open.set(transport.sessionId, transport);
    return greeter(McpServer, {}).connect(transport);
  };
}

const ROWS: readonly Row[] = [
  { library: 'node:http', start: () => onHttp1(plain) },
  {
    library: 'node:https',
    async start() {
      const server = https.createServer(SERVER_PSK, plain);
      const port = await listen(server);
      return {
        read: () => readHttp1(`https://127.0.0.1:${port}/feed`, CLIENT_PSK),
        close: () => closing(server),
      };
    },
  },
  { library: 'node:http2, compatibility API', start: () => onHttp2(plain as never) },
  {
    library: 'node:http2 over TLS, streams',
    async start() {
      const server = http2.createSecureServer(SERVER_PSK);
      server.on('stream', (stream) => {
        stream.respond({ ':status': 200, 'content-type': 'text/event-stream' });
        stream.end(TEXT);
      });
      const port = await listen(server);
      return {
        read: () => readHttp2(`https://127.0.0.1:${port}/feed`, CLIENT_PSK),
        close: () => closing(server),
      };
    },
  },
  { library: 'express 5', start: () => onHttp1(expressApp()) },
  {
    library: 'express 5 with compression',
    start: () =>
      onHttp1(expressApp(load('compression')()), { headers: { 'accept-encoding': 'gzip' } }),
  },
  { library: 'fastify 5 with @fastify/sse', start: () => fastify({}, readHttp1) },
  {
    library: 'fastify 5 with @fastify/sse over HTTP/2',
    start: () => fastify({ http2: true }, readHttp2),
  },
  {
    library: 'hono on @hono/node-server',
    async start() {
      const { getRequestListener } = load('@hono/node-server');
      return onHttp1(getRequestListener(honoApp().fetch));
    },
  },
  { library: 'koa 3', start: () => onHttp1(koaApp()) },
  { library: 'koa 3 over HTTP/2', start: () => onHttp2(koaApp() as never) },
  {
    library: 'better-sse',
    async start() {
      const { createSession } = load('better-sse');
      return onHttp1(async (req, res) => {
        const session = await createSession(req, res, { keepAlive: null });
        for (const data of EVENTS) session.push(data);
        res.end();
      });
    },
  },
  {
    library: 'graphql-sse',
    async start() {
      const handler = graphqlHandler();
      const query = encodeURIComponent('subscription { feed }');
      return onHttp1((req, res) => {
        req.url = `/?query=${query}`;
        handler(req, res);
      });
    },
  },
  { library: 'NestJS 12 @Sse', start: nest },
  {
    library: '@modelcontextprotocol/sdk 1.32, streamable HTTP',
    start() {
      const { McpServer } = load('@modelcontextprotocol/sdk/server/mcp.js');
      const { StreamableHTTPServerTransport } = load(
        '@modelcontextprotocol/sdk/server/streamableHttp.js',
      );
      return streamableHttp(sessions(StreamableHTTPServerTransport, () => greeter(McpServer, {})));
    },
  },
  {
    library: '@modelcontextprotocol/sdk 1.32, HTTP with SSE',
    start: () => httpWithSse(legacySse()),
  },
  {
    library: '@modelcontextprotocol/server 2.4, streamable HTTP',
    start() {
      const { McpServer } = load('@modelcontextprotocol/server');
      const { NodeStreamableHTTPServerTransport } = load('@modelcontextprotocol/node');
      const schema = load('zod').object({});
      const server = (): McpServer => greeter(McpServer, schema);
      return streamableHttp(sessions(NodeStreamableHTTPServerTransport, server));
    },
  },
];

/** Ids that are random in each run. */
const RANDOM = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

test.each(ROWS.map((row) => [row.library, row] as const))(
  '%s: the tap is fed what the client receives, which is what it receives without the tap',
  async (_, row) => {
    const once = async (): Promise<Buffer> => {
      const running = await row.start();
      try {
        return await running.read();
      } finally {
        await running.close();
      }
    };
    const without = await once();
    const host = new RecordingHost('server');
    const stop = startServerTap(host);
    const received = await once();
    await host.timeline.until(() => host.timeline.connections.every(({ over }) => over));
    stop();
    for (const data of EVENTS) expect(received.toString()).toContain(data);
    const known = (bytes: Buffer): string => bytes.toString().replace(RANDOM, 'random');
    expect(known(received)).toBe(known(without));
    const fed = Buffer.concat(host.timeline.connections.map(({ bytes }) => bytes));
    expect(fed.toString()).toBe(received.toString());
    expect(host.recorder.errors).toEqual([]);
  },
);
