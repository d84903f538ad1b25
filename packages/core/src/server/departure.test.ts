import { describe, expect, it } from 'vitest';
import type { StreamConnection, StreamReport } from '../connection.ts';
import type { Profile } from '../profile/profile.ts';
import type { TimelineOptions } from '../timeline/client-timeline.ts';
import { createServerTimeline } from './server-timeline.ts';

const SESSION: Profile = {
  name: 'session',
  match: { path: '^/session/[^/]+/(events|upgrade|ws)' },
  key: '^/session/([^/]+)/',
  messages: 'json',
  cursor: {
    sent: ['req-header:last-event-id', 'query:cursor', 'sent-json:/processed'],
    received: ['sse:id', 'json:/id'],
    codec: 'int',
    dense: true,
  },
};

interface Asked {
  readonly cursor?: number;
  readonly status?: number;
  readonly at?: number;
}

class Server {
  readonly reports: StreamReport[] = [];
  readonly #timeline;

  constructor(profile: Partial<Profile> = {}, options: Partial<TimelineOptions> = {}) {
    const keep = (_: StreamConnection, report: StreamReport): void =>
      void this.reports.push(report);
    this.#timeline = createServerTimeline({
      profiles: [{ ...SESSION, ...profile }],
      ...options,
      observer: { settled: keep, revised: keep, inStream() {}, ended() {} },
    });
  }

  wants(method: string, target: string): boolean {
    const request = { transport: 'sse', method, origin: '', target } as const;
    return this.#timeline.wants({ ...request, header: () => undefined });
  }

  /** A feed that is written 1 to `upTo`. */
  feed(upTo = 10, at = 0): StreamConnection {
    const feed = this.#open('sse', 'GET', '/session/s/events', { at });
    feed.response(200, (name) => (name === 'content-type' ? 'text/event-stream' : undefined));
    feed.context = 'feed';
    write(feed, 1, upTo);
    return feed;
  }

  announce({ status = 202, ...asked }: Asked = {}): void {
    const post = this.#open('sse', 'POST', '/session/s/upgrade', asked);
    expect(post.response(status, () => undefined)).toBe(false);
  }

  socket({ status = 101, ...asked }: Asked = {}): StreamConnection {
    const socket = this.#open('websocket', 'GET', '/session/s/ws', asked);
    socket.response(status, () => undefined);
    return socket;
  }

  #open(
    transport: 'sse' | 'websocket',
    method: string,
    target: string,
    { cursor, at = 1 }: Asked,
  ): StreamConnection {
    const header = (name: string): string | undefined =>
      name === 'last-event-id' && cursor !== undefined ? String(cursor) : undefined;
    return this.#timeline.open({ transport, method, origin: '', target, header }, at);
  }

  /** Classification, reason, missed and outcome of the migrations. */
  get moves(): unknown[] {
    return this.reports.flatMap(({ verdict, missed, migration }) =>
      migration ? [[verdict?.classification, verdict?.reason, missed, migration.outcome]] : [],
    );
  }
}

function write(feed: StreamConnection, from: number, to: number): void {
  for (let id = from; id <= to; id++) feed.pushString(`id: ${id}\ndata: {"key":"r${id}"}\n\n`);
}

function send(socket: StreamConnection, ...ids: readonly number[]): void {
  for (const id of ids) socket.sent(JSON.stringify({ id, key: `r${id}` }));
}

const REPLAYED = ['resumed', 'replay_observed', 0, 'replayed'];
const LOST = ['reoriginated', 'window_exceeded', 3, 'lossy'];

describe('a server whose stream moves from SSE to a WebSocket', () => {
  it('M2: has replayed when what follows the cursor is the first frame', () => {
    const server = new Server();
    server.feed(13).end('reset', 1);
    const socket = server.socket({ cursor: 10, at: 7 });
    expect(socket).toMatchObject({ resumeRequested: true, ordinal: 1, previous: 'feed' });
    send(socket, 11, 12, 13, 14);
    expect(server.moves).toEqual([REPLAYED]);
    expect(server.reports.at(-1)?.migration).toMatchObject({ askedAt: 7 });
  });

  it.each([
    [10, [14], 3],
    [10, [13, 14], 2],
    [12, [14], 1],
  ])('M2, M4: cursor %i answered with %j has lost %i, for it was sent 13', (cursor, ids, lost) => {
    const server = new Server();
    server.feed(13).end('reset', 1);
    send(server.socket({ cursor }), ...ids);
    expect(server.moves).toEqual([['reoriginated', 'window_exceeded', lost, 'lossy']]);
  });

  it('M2: counts by dense positions what it made and sent to nobody', () => {
    const server = new Server();
    server.feed(10).end('reset', 1);
    send(server.socket({ cursor: 10 }), 14);
    expect(server.moves).toEqual([['unverifiable', 'no_window', 3, 'lossy']]);
  });

  it('M2: has replayed by dense positions what it had sent to nobody', () => {
    const server = new Server();
    server.feed(10).end('reset', 1);
    send(server.socket({ cursor: 10 }), 11, 12, 13, 14);
    expect(server.moves).toEqual([['unverifiable', 'no_window', 0, 'replayed']]);
  });

  it('M2: cannot tell where positions may have holes and nothing was sent in between', () => {
    const server = new Server({ cursor: { ...SESSION.cursor, dense: false } });
    server.feed(10).end('reset', 1);
    send(server.socket({ cursor: 10 }), 14);
    expect(server.moves).toEqual([['unverifiable', 'no_window', 'unknown', 'unverifiable']]);
  });

  it('M2: has refused by 409', () => {
    const server = new Server();
    server.feed(13).end('reset', 1);
    server.socket({ cursor: 10, status: 409 });
    expect(server.moves).toEqual([['refused', 'cursor_conflict', 0, 'refused']]);
  });

  it('M1: hears the cursor in the first frame of its client, too', () => {
    const server = new Server();
    server.feed(13).end('reset', 1);
    const socket = server.socket();
    socket.message('{"processed":10}');
    send(socket, 14);
    expect(server.moves).toEqual([LOST]);
  });

  it('M1: is left while the feed is open, and the end of the feed is no gap then', () => {
    const server = new Server();
    const feed = server.feed(13);
    const socket = server.socket({ cursor: 10 });
    send(socket, 11, 12, 13, 14, 15, 16);
    feed.end('reset', 2);
    socket.end('close:1006', 3);
    send(server.socket({ cursor: 14 }), 15, 16);
    expect(server.moves).toEqual([REPLAYED]);
    expect(server.reports.at(-1)?.verdict).toMatchObject({ reason: 'replay_observed' });
  });

  it('M1: knows no move without a cursor, and none of what a WebSocket has been sent', () => {
    const server = new Server();
    server.feed(10).end('reset', 1);
    send(server.socket(), 11, 12, 13);
    server.feed(13).end('reset', 1);
    send(server.socket({ cursor: 12 }), 13);
    expect(server.moves).toEqual([]);
  });

  it('M1: knows no move of a WebSocket that follows a WebSocket', () => {
    const server = new Server();
    server.feed(10).end('reset', 1);
    const socket = server.socket({ cursor: 10 });
    send(socket, 11);
    socket.end('close:1006', 2);
    send(server.socket({ cursor: 10 }), 11);
    expect(server.moves).toHaveLength(1);
  });

  it('M2: compares payloads where a profile says where they are', () => {
    const server = new Server({ payload: 'json:/key' });
    server.feed(13).end('reset', 1);
    server.socket({ cursor: 10 }).sent('{"id":11,"key":"of another log"}');
    expect(server.moves).toEqual([['reoriginated', 'id_reused', 'unknown', 'lossy']]);
  });

  it('M2: replays the same payloads in frames of another shape', () => {
    const server = new Server({ payload: 'json:/key' });
    server.feed(13).end('reset', 1);
    send(server.socket({ cursor: 10 }), 11, 12, 13);
    expect(server.moves).toEqual([REPLAYED]);
  });
});

describe('a move that was announced to the server', () => {
  it('M1: is asked about, and an ordinary POST is not', () => {
    const server = new Server();
    expect(server.wants('POST', '/session/s/upgrade')).toBe(true);
    expect(server.wants('POST', '/account/upgrade')).toBe(false);
    expect(server.wants('POST', '/session/s/events')).toBe(false);
  });

  it('M3: hands its cursor to the WebSocket that comes next', () => {
    const server = new Server();
    server.feed(13).end('aborted', 1);
    server.announce({ cursor: 10, at: 5 });
    expect(server.reports.filter(({ verdict }) => verdict)).toEqual([]);
    send(server.socket({ at: 9 }), 14);
    expect(server.moves).toEqual([LOST]);
    expect(server.reports.at(-1)).toMatchObject({
      requestedCursor: '10',
      migration: { askedAt: 5 },
    });
  });

  it('M2: without a cursor has an outcome that nobody knows, and no verdict', () => {
    const server = new Server();
    server.feed(13).end('aborted', 1);
    server.announce();
    const socket = server.socket();
    send(socket, 14);
    socket.timeout();
    expect(server.moves).toEqual([[undefined, undefined, 'unknown', 'unverifiable']]);
  });

  it('M2: is refused by 409 as well', () => {
    const server = new Server();
    server.feed(13).end('aborted', 1);
    server.announce({ cursor: 10, status: 409 });
    expect(server.moves).toEqual([['refused', 'cursor_conflict', 0, 'refused']]);
  });

  it('M1: is forgotten after the reconnect window, and when the feed goes on', () => {
    const server = new Server();
    server.feed(13).end('aborted', 1);
    server.announce({ cursor: 10, at: 5 });
    send(server.socket({ at: 60_006 }), 14);
    expect(server.moves).toEqual([]);
    const again = new Server();
    again.feed(13).end('aborted', 1);
    again.announce({ cursor: 10, at: 5 });
    again.feed(13).end('aborted', 6);
    send(again.socket({ at: 7 }), 14);
    expect(again.moves).toEqual([]);
  });
});

describe('M1: a session that is read on one path and moves on another, without a profile that ties them', () => {
  interface Request {
    readonly transport?: 'sse' | 'websocket';
    readonly method?: string;
    readonly target: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly status?: number;
  }

  const PLACES: Profile = {
    name: 'places',
    match: { path: '^/' },
    messages: 'json',
    cursor: {
      sent: ['req-header:last-event-id', 'query:cursor', 'sent-json:/processed'],
      received: ['sse:id', 'json:/id'],
      codec: 'int',
      dense: true,
    },
  };

  function serve(profile: Profile = PLACES) {
    const reports: StreamReport[] = [];
    const keep = (_: StreamConnection, report: StreamReport): void => void reports.push(report);
    const observer = { settled: keep, revised: keep, inStream() {}, ended() {} };
    const timeline = createServerTimeline({ profiles: [profile], observer });
    const ask = ({ transport = 'sse', method = 'GET', target, headers = {}, ...more }: Request) => {
      const header = (name: string): string | undefined => headers[name];
      const { body, status = transport === 'sse' ? 200 : 101 } = more;
      const given = body === undefined ? {} : { body: () => body };
      const request = { transport, method, origin: '', target, header, ...given };
      const connection = timeline.open(request, 1);
      const type = transport === 'sse' && method === 'GET' ? 'text/event-stream' : undefined;
      connection.response(status, (name) => (name === 'content-type' ? type : undefined));
      return connection;
    };
    const outcomes = (): unknown[] =>
      reports.flatMap(({ missed, migration }) => (migration ? [[migration.outcome, missed]] : []));
    return { ask, outcomes };
  }

  const IN_MCP = { 'mcp-session-id': 's' };

  it.each([
    ['the path names it', '/session/s/events', '/session/s/ws', {}],
    ['the header names it', '/mcp', '/socket', IN_MCP],
  ])('is found by its cursor where %s', (_, feed, socket, headers) => {
    const { ask, outcomes } = serve();
    write(ask({ target: feed, headers }), 1, 13);
    const moved = ask({ transport: 'websocket', target: `${socket}?cursor=10`, headers });
    moved.sent('{"id":14}');
    expect(outcomes()).toEqual([['lossy', 3]]);
  });

  it('is found by what announced it, whose body may carry the cursor', () => {
    const { ask, outcomes } = serve({ ...PLACES, key: '^/session/([^/]+)/(?:events|upgrade)' });
    write(ask({ target: '/session/s/events' }), 1, 13);
    ask({ method: 'POST', target: '/session/s/upgrade', body: { processed: 10 }, status: 202 });
    const moved = ask({ transport: 'websocket', target: '/session/s/ws' });
    moved.sent('{"id":11}');
    expect(outcomes()).toEqual([['replayed', 0]]);
  });

  it('is none of another session, nor of one that does not say that it moves', () => {
    const { ask, outcomes } = serve();
    write(ask({ target: '/session/s/events' }), 1, 13);
    ask({ transport: 'websocket', target: '/session/t/ws?cursor=10' }).sent('{"id":14}');
    ask({ transport: 'websocket', target: '/session/s/chat' }).sent('{"id":1}');
    ask({ transport: 'websocket', target: '/session/s/chat?cursor=99' }).sent('{"id":1}');
    expect(outcomes()).toEqual([]);
  });
});
