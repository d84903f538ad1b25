import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import fastifySse from '@fastify/sse';
import type { HttpBindings } from '@hono/node-server';
import { serve } from '@hono/node-server';
import { continuity } from '@sameriver/instrumentation-sse/continuity';
import { createSession } from 'better-sse';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { describe, expect, it } from 'vitest';

// None of them has types.
const require = createRequire(import.meta.url);
const compression = require('compression');
const express = require('express');
const { default: Koa } = require('koa');

interface ExpressResponse extends ServerResponse {
  set(headers: object): this;
  status(code: number): this;
}

type Before = (response: ServerResponse) => void;
/** Starts a server of the framework whose every answer is a short event stream. */
type Serve = (before: Before) => Server | Promise<Server>;

const SSE = { 'content-type': 'text/event-stream' };
const EVENTS = ['id: 1\ndata: a\n\n', 'id: 2\ndata: b\n\n'];

function answer(response: ServerResponse): void {
  response.writeHead(200, SSE);
  for (const event of EVENTS) response.write(event);
  response.end();
}

const SERVERS: Readonly<Record<string, Serve>> = {
  'node:http': (before) =>
    createServer((_, response) => {
      before(response);
      answer(response);
    }),
  express: (before) => {
    const app = express();
    app.get('/', (_: unknown, response: ExpressResponse) => {
      before(response);
      response.set(SSE).status(200).flushHeaders();
      for (const event of EVENTS) response.write(event);
      response.end();
    });
    return createServer(app);
  },
  'express with compression': (before) => {
    const app = express();
    app.use(compression({ filter: () => true, threshold: 0 }));
    app.get('/', (_: unknown, response: ExpressResponse) => {
      before(response);
      response.set(SSE);
      for (const event of EVENTS) response.write(event);
      response.end();
    });
    return createServer(app);
  },
  'fastify with @fastify/sse': async (before) => {
    const app = Fastify();
    await app.register(fastifySse as never);
    app.get('/', { sse: true } as never, async (_, reply) => {
      before(reply.raw);
      const { sse } = reply as unknown as { sse: { send(event: object): Promise<void> } };
      await sse.send({ id: '1', data: 'a' });
      await sse.send({ id: '2', data: 'b' });
    });
    await app.ready();
    return app.server;
  },
  'hono on @hono/node-server': (before) => {
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.get('/', (c) => {
      before(c.env.outgoing);
      return streamSSE(c, async (stream) => {
        await stream.writeSSE({ id: '1', data: 'a' });
        await stream.writeSSE({ id: '2', data: 'b' });
      });
    });
    return serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
  },
  koa: (before) => {
    const app = new Koa();
    app.use((context: { res: ServerResponse; respond: boolean }) => {
      before(context.res);
      context.respond = false;
      answer(context.res);
    });
    return createServer(app.callback());
  },
  'better-sse': (before) =>
    createServer(async (request, response) => {
      before(response);
      const session = await createSession(request, response);
      session.push('a', 'message', '1');
      session.push('b', 'message', '2');
      response.end();
    }),
  'NestJS @Sse': async (before) => {
    require('reflect-metadata');
    const { Controller, Module, Sse } = require('@nestjs/common');
    const { NestFactory } = require('@nestjs/core');
    const { from } = require('rxjs');
    class Feed {
      feed(): unknown {
        return from([
          { id: '1', data: 'a' },
          { id: '2', data: 'b' },
        ]);
      }
    }
    const method = Object.getOwnPropertyDescriptor(Feed.prototype, 'feed');
    Sse()(Feed.prototype, 'feed', method);
    Controller()(Feed);
    class Application {}
    Module({ controllers: [Feed] })(Application);
    const app = await NestFactory.create(Application, { logger: false });
    app.use((_: unknown, response: ServerResponse, next: () => void) => {
      before(response);
      next();
    });
    await app.init();
    return app.getHttpServer();
  },
  'graphql-sse': (before) => {
    const { createHandler } = require('graphql-sse/lib/use/http');
    const { GraphQLObjectType, GraphQLSchema, GraphQLString } = require('graphql');
    const type = GraphQLString;
    const subscribe = async function* (): AsyncGenerator<object> {
      for (const feed of ['a', 'id: 2']) yield { feed };
    };
    const query = new GraphQLObjectType({ name: 'Query', fields: { any: { type } } });
    const fields = { feed: { type, subscribe } };
    const subscription = new GraphQLObjectType({ name: 'Subscription', fields });
    const handler = createHandler({ schema: new GraphQLSchema({ query, subscription }) });
    return createServer((request, response) => {
      before(response);
      request.url = `/?query=${encodeURIComponent('subscription { feed }')}`;
      handler(request, response);
    });
  },
};

interface Read {
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function read(open: Serve, before: Before): Promise<Read> {
  const server = await open(before);
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    headers: { 'last-event-id': '0', accept: 'text/event-stream', connection: 'close' },
  });
  const body = await response.text();
  server.closeAllConnections();
  server.close();
  const { date: _, ...headers } = Object.fromEntries(response.headers);
  return { headers, body };
}

describe.each(Object.entries(SERVERS))('a stream of %s', (_, open) => {
  it('is the same with stamping, byte by byte, but for the header and the comment', async () => {
    const plain = await read(open, () => {});
    const stamped = await read(open, (response) => continuity(response, { epoch: 'g' }));
    const field = 'status=unknown, gen="g", received="0"';
    expect(stamped.headers).toEqual({ ...plain.headers, 'stream-continuity': field });
    expect(stamped.body).toBe(`: stream-continuity ${field}\n\n${plain.body}`);
    // GraphQL has no ids.
    expect(plain.body).toMatch(/^id: ?2$|"id: 2"/m);
  });
});
