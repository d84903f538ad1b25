import { describe, expect, it } from 'vitest';
import type { StreamConnection, StreamReport, StreamRequest } from '../connection.ts';
import type { Profile } from '../profile/profile.ts';
import type { TimelineOptions } from './client-timeline.ts';
import { createClientTimeline } from './client-timeline.ts';

/** The profile of a session that is read as SSE first and over a WebSocket later. */
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
    start: ['now'],
  },
  epoch: { received: ['header:x-generation'] },
};

interface Given extends Partial<Pick<StreamRequest, 'method' | 'body' | 'origin'>> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly generation?: string;
  readonly at?: number;
}

class Client {
  readonly reports: StreamReport[] = [];
  readonly #timeline;
  #now = 0;

  constructor(options: Partial<TimelineOptions> = { profiles: [SESSION] }) {
    const keep = (_: StreamConnection, report: StreamReport): void =>
      void this.reports.push(report);
    this.#timeline = createClientTimeline({
      ...options,
      observer: { settled: keep, revised: keep, inStream() {}, ended() {} },
    });
  }

  open(
    transport: 'sse' | 'websocket',
    target: string,
    { headers = {}, status, generation = 'g', at, method = 'GET', ...rest }: Given = {},
  ): StreamConnection {
    this.#now = at ?? this.#now + 1;
    const header = (name: string): string | undefined => headers[name];
    const origin = 'http://a.test';
    const request = { transport, method, origin, target, header, ...rest };
    const connection = this.#timeline.open(request, this.#now);
    const answer: Record<string, string> = { 'x-generation': generation };
    if (transport === 'sse' && method === 'GET') answer['content-type'] = 'text/event-stream';
    connection.response(status ?? (transport === 'sse' ? 200 : 101), (name) => answer[name]);
    return connection;
  }

  /** Reads 1 to 10 as SSE. */
  read(
    end?: 'reset' | 'aborted',
    target = '/session/s/events',
    given: Given = {},
  ): StreamConnection {
    const connection = this.open('sse', target, given);
    connection.context = 'sse';
    for (let id = 1; id <= 10; id++) connection.pushString(`id: ${id}\ndata: {"key":"r${id}"}\n\n`);
    if (end) connection.end(end, this.#now);
    return connection;
  }

  post(given: Given = {}): StreamConnection {
    return this.open('sse', '/session/s/upgrade', { method: 'POST', ...given });
  }

  socket(target: string, ...ids: readonly number[]): StreamConnection {
    const connection = this.open('websocket', target);
    receive(connection, ...ids);
    return connection;
  }

  /** Classification, reason, missed and outcome of every verdict. */
  get verdicts(): unknown[] {
    return this.reports.flatMap(({ verdict, missed, migration }) =>
      verdict ? [[verdict.classification, verdict.reason, missed, migration?.outcome]] : [],
    );
  }
}

function receive(connection: StreamConnection, ...ids: readonly number[]): void {
  for (const id of ids) connection.message(JSON.stringify({ id, key: `r${id}` }));
}

const LOST = ['reoriginated', 'window_exceeded', 3, 'lossy'];
const REPLAYED = ['resumed', 'next_in_sequence', 0, 'replayed'];

describe('a client moves a stream from SSE to a WebSocket', () => {
  it('M1: a WebSocket of the same key is the migration, and says when it was asked for', () => {
    const client = new Client();
    client.read('reset');
    const socket = client.open('websocket', '/session/s/ws?cursor=10', { at: 5 });
    expect(socket).toMatchObject({ ordinal: 1, resumeRequested: true, previous: 'sse' });
    receive(socket, 11);
    expect(client.verdicts).toEqual([REPLAYED]);
    expect(client.reports.at(-1)?.migration).toMatchObject({
      from: 'sse',
      to: 'websocket',
      askedAt: 5,
    });
  });

  it('M1: SSE that follows SSE, and a WebSocket that follows a WebSocket, are none', () => {
    const client = new Client();
    client.read('reset');
    const again = client.open('sse', '/session/s/events', { headers: { 'last-event-id': '10' } });
    again.pushString('id: 11\ndata: x\n\n');
    again.end('reset', 3);
    client.socket('/session/s/ws?cursor=11', 12).end('close:1006', 4);
    client.socket('/session/s/ws?cursor=12', 13);
    const outcomes = client.reports.map(({ migration }) => migration?.outcome);
    expect(outcomes).toEqual([undefined, undefined, 'replayed', undefined]);
  });

  it.each([
    ['the application closed the feed itself', 'aborted', 60_000, true],
    ['the feed was dropped', 'reset', 60_000, true],
    ['the window is over', 'aborted', 60_002, false],
  ] as const)('M1: without a cursor, %s', (_, end, at, moves) => {
    const client = new Client();
    client.read(end);
    receive(client.open('websocket', '/session/s/ws', { at }), 14);
    expect(client.verdicts).toEqual(moves ? [LOST] : []);
  });

  it('M1: a feed that is still open is left by a request that carries a cursor, and by no other', () => {
    const client = new Client();
    client.read();
    client.socket('/session/s/ws', 14);
    expect(client.verdicts).toEqual([]);
    client.socket('/session/s/ws?cursor=9', 10, 11);
    expect(client.verdicts).toEqual([REPLAYED]);
  });

  it('M1: without a common key the only feed that ended at the cursor is the one', () => {
    const { key: _, ...keyless } = SESSION;
    const client = new Client({ profiles: [keyless] });
    client.read('reset');
    client.socket('/session/s/ws?cursor=10', 14);
    expect(client.verdicts).toEqual([LOST]);
  });

  it('M1: of two feeds that ended at the cursor none can be told to be the one', () => {
    const { key: _, ...keyless } = SESSION;
    const client = new Client({ profiles: [{ ...keyless, match: { path: '^/feeds/' } }] });
    client.read('reset', '/feeds/s');
    client.read('reset', '/feeds/t');
    client.socket('/feeds/ws?cursor=10', 14);
    expect(client.verdicts.map((verdict) => (verdict as unknown[])[3])).toEqual([undefined]);
  });

  it('M1: a path that names the session ties two paths', () => {
    const { key: _, ...keyless } = SESSION;
    const client = new Client({ profiles: [keyless] });
    client.read('reset');
    client.read('reset', '/session/t/events');
    client.socket('/session/s/ws?cursor=10', 14);
    expect(client.verdicts.map((verdict) => (verdict as unknown[])[3])).toEqual(['lossy']);
  });

  it('M1: the session header ties two paths', () => {
    const headers = { 'mcp-session-id': 'a' };
    const client = new Client({});
    client.read('reset', '/mcp', { headers });
    client.read('reset', '/mcp', { headers: { 'mcp-session-id': 'b' } });
    client.open('websocket', '/mcp/ws', { headers }).timeout();
    expect(client.verdicts).toEqual([
      ['unverifiable', 'cursor_not_sent', 'unknown', 'unverifiable'],
    ]);
  });

  it('M1, L3: a WebSocket handshake by POST is tied by the key of a profile', () => {
    const client = new Client();
    client.read('reset');
    receive(client.open('websocket', '/session/s/upgrade', { method: 'POST' }), 14);
    expect(client.verdicts).toEqual([LOST]);
  });

  it('M2: 409 refuses the migration, and the feed is still the one that is left', () => {
    const client = new Client();
    client.read('reset');
    const refused = ['refused', 'cursor_conflict', 0, 'refused'];
    client.open('websocket', '/session/s/ws?cursor=10', { status: 409 });
    client.open('websocket', '/session/s/ws', { status: 409 });
    expect(client.verdicts).toEqual([refused, refused]);
  });

  it('M3: the cursor that crossed over decides, not the last id that came', () => {
    const client = new Client();
    client.read('reset');
    client.socket('/session/s/ws?cursor=8', 9, 10, 11);
    expect(client.verdicts).toEqual([REPLAYED]);
  });

  it('M3: a frame that hands the cursor over is as good as the request', () => {
    const client = new Client();
    client.read('reset');
    const socket = client.open('websocket', '/session/s/ws');
    socket.sent('{"processed":7}');
    receive(socket, 8, 9);
    expect(client.verdicts).toEqual([REPLAYED]);
  });

  it('M3: without a cursor and without proof the cursor is what is missing', () => {
    const client = new Client({});
    client.read('reset', '/feed');
    client.open('websocket', '/feed').timeout();
    expect(client.verdicts).toEqual([
      ['unverifiable', 'cursor_not_sent', 'unknown', 'unverifiable'],
    ]);
  });

  it('M3: another generation is another log, whatever the numbers', () => {
    const client = new Client();
    client.read('reset');
    receive(client.open('websocket', '/session/s/ws?cursor=10', { generation: 'h' }), 11);
    expect(client.verdicts).toEqual([['reoriginated', 'epoch_changed', 'unknown', 'lossy']]);
  });

  it('M4: a hole without duplicates and without reordering is all that there is to see', () => {
    const client = new Client();
    client.read('reset');
    const socket = client.socket('/session/s/ws?cursor=10', 14, 15, 16);
    expect(client.verdicts).toEqual([LOST]);
    expect(client.reports.at(-1)).toMatchObject({ duplicates: 0, revised: false });
    expect(socket).toMatchObject({ events: 3, repeated: 0 });
  });
});

describe('a move that a request of its own announces', () => {
  it.each([[200], [202], [204], [101]])(
    'M1: POST …/upgrade answered %i refuses nothing',
    (status) => {
      const client = new Client();
      client.read('aborted');
      client.post({ status, headers: { 'last-event-id': '10' } });
      expect(client.verdicts).toEqual([]);
      const socket = client.socket('/session/s/ws', 14);
      expect(client.verdicts).toEqual([LOST]);
      expect(socket).toMatchObject({ ordinal: 1, previous: 'sse' });
    },
  );

  it('M3: hands over the cursor for the WebSocket that comes next, and for that one only', () => {
    const client = new Client();
    client.read('aborted');
    client.post({ at: 40, headers: { 'last-event-id': '8' } });
    const socket = client.socket('/session/s/ws', 9, 10, 11);
    expect(client.verdicts).toEqual([REPLAYED]);
    expect(client.reports.at(-1)).toMatchObject({
      requestedCursor: '8',
      migration: { askedAt: 40 },
    });
    socket.end('close:1006', 50);
    expect(client.open('websocket', '/session/s/ws').resumeRequested).toBe(false);
  });

  it('M3: hands it over in its body, where the profile says so', () => {
    const client = new Client();
    client.read('aborted');
    client.post({ body: () => ({ processed: 8 }) });
    client.socket('/session/s/ws', 9);
    expect(client.reports.at(-1)?.requestedCursor).toBe('8');
  });

  it('M1: takes along a feed that is open until the WebSocket is', () => {
    const client = new Client();
    const feed = client.read();
    client.post();
    client.socket('/session/s/ws', 14);
    feed.end('aborted', 9);
    expect(client.verdicts).toEqual([LOST]);
  });

  it('M1: is forgotten after the reconnect window', () => {
    const client = new Client();
    client.read();
    client.post({ at: 10, headers: { 'last-event-id': '10' } });
    receive(client.open('websocket', '/session/s/ws', { at: 60_011 }), 14);
    expect(client.verdicts).toEqual([]);
  });

  it('M2: answered 409 it is a refused migration', () => {
    const client = new Client();
    client.read('reset');
    client.post({ status: 409, headers: { 'last-event-id': '10' } });
    expect(client.verdicts).toEqual([['refused', 'cursor_conflict', 0, 'refused']]);
  });
});

describe('events that both transports carried', () => {
  it('M3: need not look the same: an id that comes back in another frame is no reused one', () => {
    const client = new Client();
    client.read('reset');
    client.socket('/session/s/ws?cursor=8', 9, 10, 11);
    expect(client.verdicts).toEqual([REPLAYED]);
  });

  it('M3, G2: are counted as duplicates where the payload proves it', () => {
    const client = new Client({ profiles: [{ ...SESSION, payload: 'json:/key' }] });
    client.read('reset');
    const socket = client.socket('/session/s/ws?cursor=8', 9, 10, 11);
    expect(client.verdicts).toEqual([REPLAYED]);
    expect(socket.repeated).toBe(2);
  });

  it('M3: are another log’s where a profile says where the payload is, and it differs', () => {
    const client = new Client({ profiles: [{ ...SESSION, payload: 'json:/key' }] });
    client.read('reset');
    const socket = client.open('websocket', '/session/s/ws?cursor=8');
    socket.message('{"id":9,"key":"of another log"}');
    expect(client.verdicts).toEqual([['reoriginated', 'id_reused', 'unknown', 'lossy']]);
  });
});
