import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http, { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, createServer as createTcpServer } from 'node:net';
import type { StreamReport } from '@sameriver/core';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import type { ContinuityOptions, FoundCursor } from '@sameriver/instrumentation-sse/continuity';
import { continuity, continuityField } from '@sameriver/instrumentation-sse/continuity';
import { WebSocketInstrumentation } from '@sameriver/instrumentation-websocket';
import { request as undiciRequest } from 'undici8';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

/*
 * Both ends are instrumented, and the server says what its log knows of the cursor. What neither can
 * prove alone, both prove: the resumption that is one, and the one that is not.
 */

interface Heard {
  readonly role: 'client' | 'server';
  readonly classification: string;
  readonly reason: string;
}

let heard: Heard[] = [];
const reportHook = ({ verdict }: StreamReport, { role }: { role: 'client' | 'server' }): void => {
  if (verdict !== undefined) heard.push({ role, ...verdict });
};
const instrumentations = [
  new SseInstrumentation({ reportHook }),
  new WebSocketInstrumentation({ reportHook }),
];
const closing: (() => void)[] = [];

beforeEach(() => {
  heard = [];
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
afterAll(() => {
  for (const instrumentation of instrumentations) instrumentation.disable();
});

/** An event log of one instance. */
class Log {
  readonly epoch: string;
  readonly newest: number;

  constructor(epoch: string, newest: number) {
    this.epoch = epoch;
    this.newest = newest;
  }

  find(cursor: string): FoundCursor {
    const next = Number(cursor) + 1;
    if (next > this.newest + 1) return { kind: 'unknown' };
    return { kind: 'kept', next: String(next), newest: String(this.newest) };
  }

  facts(cursor: string | undefined): Parameters<typeof continuity>[1] {
    const found = cursor === undefined ? undefined : this.find(cursor);
    return { epoch: this.epoch, ...(found && { found }) };
  }

  /** What an instance sends after a cursor: what follows in its log, or what comes next anyway. */
  after(cursor: string | undefined): string {
    const known = cursor !== undefined && Number(cursor) <= this.newest;
    const id = known ? Number(cursor) + 1 : this.newest + 1;
    return cursor === undefined ? String(this.newest) : String(id);
  }
}

/** The log that answers, whichever instance a balancer would choose. */
async function serve(answering: () => Log, options?: ContinuityOptions): Promise<string> {
  const server = createServer((request, response) => {
    const cursor = request.headers['last-event-id']?.toString();
    continuity(response, answering().facts(cursor), options);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`id: ${answering().after(cursor)}\ndata: ${answering().epoch}\n\n`);
  });
  const sockets = new WebSocketServer({ server });
  const cursorOf = ({ url }: IncomingMessage): string | undefined =>
    new URL(url ?? '', 'http://a').searchParams.get('last_event_id') ?? undefined;
  sockets.on('headers', (lines, request) => {
    const cursor = cursorOf(request);
    lines.push(`Stream-Continuity: ${continuityField(cursor, answering().facts(cursor))}`);
  });
  sockets.on('connection', (socket, request) => {
    socket.send(JSON.stringify({ id: answering().after(cursorOf(request)) }));
    socket.once('message', () => socket.close());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
    sockets.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed`;
}

/** Reads one answer to its end. */
type Read = (url: string, cursor: string | undefined) => Promise<unknown>;

const headersFor = (cursor: string | undefined): Record<string, string> => ({
  accept: 'text/event-stream',
  ...(cursor !== undefined && { 'last-event-id': cursor }),
});

const CLIENTS: Readonly<Record<string, Read>> = {
  fetch: async (url, cursor) => (await fetch(url, { headers: headersFor(cursor) })).text(),
  'node:http': async (url, cursor) => {
    const request = http.get(url, { headers: headersFor(cursor), agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await response.toArray();
  },
  undici: async (url, cursor) =>
    (await undiciRequest(url, { headers: headersFor(cursor) })).body.text(),
};

async function bothSay(expected: Record<'client' | 'server', string>): Promise<void> {
  const say = (): Record<string, string> =>
    Object.fromEntries(
      heard.map(({ role, classification, reason }) => {
        return [role, `${classification}: ${reason}`];
      }),
    );
  await expect.poll(say, { timeout: 10_000, interval: 10 }).toEqual(expected);
}

describe.each(Object.entries(CLIENTS))('a client on %s and a server that stamps', (_, read) => {
  it('prove a resumption', async () => {
    const log = new Log('log-1', 4118);
    const url = await serve(() => log);
    await read(url, undefined);
    await read(url, '4118');
    await bothSay({ client: 'resumed: cursor_echoed', server: 'resumed: store_replayed' });
  });

  it('prove that cursor 4118 was answered by another log with id 13', async () => {
    let log = new Log('log-1', 4118);
    const url = await serve(() => log);
    await read(url, undefined);
    log = new Log('log-2', 12);
    await read(url, '4118');
    await bothSay({
      client: 'reoriginated: epoch_changed',
      server: 'reoriginated: cursor_unknown',
    });
  });

  it('prove it also where the numbers of the other log happen to line up', async () => {
    let log = new Log('log-1', 4118);
    const url = await serve(() => log);
    await read(url, undefined);
    log = new Log('log-2', 9000);
    await read(url, '4118');
    await expect
      .poll(() => heard, { timeout: 10_000, interval: 10 })
      .toContainEqual({ role: 'client', classification: 'reoriginated', reason: 'epoch_changed' });
  });
});

/** Passes bytes on, but for the header; not by a client or server that would be judged as well. */
async function withoutHeader(url: string): Promise<string> {
  const proxy = createTcpServer((socket) => {
    const upstream = connect(Number(new URL(url).port), '127.0.0.1');
    socket.pipe(upstream);
    upstream.on('data', (bytes) => {
      socket.write(bytes.toString('latin1').replace(/^stream-continuity: .*\r\n/im, ''), 'latin1');
    });
    upstream.on('close', () => socket.end());
    for (const each of [socket, upstream]) each.on('error', () => each.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  closing.push(() => proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/feed`;
}

describe('a client whose proxy takes the header away', () => {
  it.each([{}, { comment: false, event: true }])(
    'finds the proof in the first frame of the body (%j)',
    async (options) => {
      let log = new Log('log-1', 4118);
      const url = await withoutHeader(await serve(() => log, options));
      const read = async (cursor: string | undefined): Promise<void> => {
        heard = [];
        const response = await fetch(url, { headers: headersFor(cursor) });
        expect(response.headers.has('stream-continuity')).toBe(false);
        await response.text();
      };
      await read(undefined);
      await read('4118');
      await bothSay({ client: 'resumed: cursor_echoed', server: 'resumed: store_replayed' });
      log = new Log('log-2', 12);
      await read('4119');
      await bothSay({
        client: 'reoriginated: epoch_changed',
        server: 'reoriginated: cursor_unknown',
      });
    },
  );
});

describe('a client on ws and a server that stamps its 101', () => {
  const profiles = [
    {
      name: 'numbered',
      match: { transport: 'websocket' },
      messages: 'json',
      cursor: { sent: ['query:last_event_id'], received: ['json:/id'], codec: 'int' },
      epoch: { received: ['continuity:gen'] },
      echo: ['continuity:from'],
    },
  ] as const;

  async function read(url: string, cursor: string | undefined): Promise<void> {
    const target = new URL(url.replace('http:', 'ws:'));
    if (cursor !== undefined) target.searchParams.set('last_event_id', cursor);
    const socket = new WebSocket(target);
    await once(socket, 'message');
    socket.send('enough');
    await once(socket, 'close');
  }

  it.each([
    [
      'a resumption',
      new Log('log-1', 4118),
      { client: 'resumed: cursor_echoed', server: 'resumed: store_replayed' },
    ],
    [
      'that another log answered',
      new Log('log-2', 12),
      { client: 'reoriginated: epoch_changed', server: 'reoriginated: cursor_unknown' },
    ],
  ])('prove %s', async (_, answering, expected) => {
    for (const instrumentation of instrumentations) instrumentation.disable();
    const own = new WebSocketInstrumentation({ reportHook, profiles: [...profiles] as never });
    let log = new Log('log-1', 4118);
    const url = await serve(() => log);
    await read(url, undefined);
    log = answering;
    await read(url, '4118');
    await bothSay(expected);
    own.disable();
  });
});
