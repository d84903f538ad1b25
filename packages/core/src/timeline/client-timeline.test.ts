import { describe, expect, it } from 'vitest';
import type {
  InStreamFinding,
  StreamConnection,
  StreamReport,
  StreamRequest,
  StreamTimeline,
} from '../connection.ts';
import type { TimelineOptions } from './client-timeline.ts';
import { createClientTimeline } from './client-timeline.ts';

interface Given extends Partial<Omit<StreamRequest, 'header'>> {
  readonly headers?: Readonly<Record<string, string>>;
}

class Client {
  readonly settled: (StreamReport & { readonly at: StreamConnection })[] = [];
  readonly revised: StreamReport[] = [];
  readonly inStream: InStreamFinding[] = [];
  readonly final = new Map<StreamConnection, readonly StreamReport[]>();
  readonly timeline: StreamTimeline;

  constructor(options: Partial<TimelineOptions> = {}) {
    this.timeline = createClientTimeline({
      ...options,
      observer: {
        settled: (at, report) => this.settled.push({ ...report, at }),
        revised: (_, report) => this.revised.push(report),
        inStream: (_, finding) => this.inStream.push(finding),
        ended: (connection, _, reports) => this.final.set(connection, reports),
      },
    });
  }

  ask({ headers = {}, ...given }: Given = {}, at = 0): StreamConnection {
    const request: StreamRequest = {
      transport: 'sse',
      method: 'GET',
      origin: 'http://a.test',
      target: '/feed',
      ...given,
      header: (name) => headers[name],
    };
    return this.timeline.open(request, at);
  }

  open(given: Given = {}, at = 0, answer: Readonly<Record<string, string>> = {}): StreamConnection {
    const connection = this.ask(given, at);
    const sent: Record<string, string> = { 'content-type': 'text/event-stream', ...answer };
    connection.response(connection.transport === 'sse' ? 200 : 101, (name) => sent[name]);
    return connection;
  }

  resume(
    cursor: string,
    given: Given = {},
    at = 0,
    answer: Readonly<Record<string, string>> = {},
  ): StreamConnection {
    const headers = { ...given.headers, 'last-event-id': cursor };
    return this.open({ ...given, headers }, at, answer);
  }

  get verdicts(): unknown[] {
    return this.settled.flatMap(({ verdict }) => (verdict ? [verdict.reason] : []));
  }
}

const events = (connection: StreamConnection, ...ids: readonly (number | string)[]): void => {
  for (const id of ids) connection.pushString(`id: ${id}\ndata: e${id}\n\n`);
};

describe('which connection is a reconnect', () => {
  it('L1: a request that carries a cursor is one, also the first of this process', () => {
    const client = new Client();
    const connection = client.resume('7');
    expect(connection).toMatchObject({ resumeRequested: true, ordinal: 0, settled: false });
    events(connection, 8);
    expect(client.verdicts).toEqual(['no_epoch']);
  });

  it('L1: its predecessor is the connection that ended at the cursor, on another method too', () => {
    const client = new Client();
    const post = client.open({ method: 'POST', headers: { 'mcp-session-id': 's' } });
    const other = client.open();
    events(post, 'x1');
    events(other, 'y1');
    post.context = 'the post';
    post.end('reset', 1);
    other.end('reset', 2);
    expect(client.resume('x1').previous).toBe('the post');
  });

  it('L2: a request without a cursor is one within the window after a drop, not after a close', () => {
    const ends = [
      ['reset', 59_000, 1],
      ['eof', 59_000, 1],
      ['reset', 61_000, 0],
      ['aborted', 1_000, 0],
    ] as const;
    for (const [end, later, ordinal] of ends) {
      const client = new Client();
      const first = client.open();
      events(first, 1);
      first.end(end, 0);
      expect(client.open({}, later).ordinal, `${end} ${later}`).toBe(ordinal);
    }
  });

  it('L2: the object that reconnects by itself needs no window', () => {
    const client = new Client();
    const source = {};
    client.open({ client: source }).end('reset', 0);
    expect(client.open({ client: source }, 3_600_000).ordinal).toBe(1);
    expect(client.open({ client: {} }, 3_600_000).ordinal).toBe(0);
  });

  it('L3: a POST without a cursor is a new logical stream', () => {
    const client = new Client();
    const first = client.open({ method: 'POST' });
    first.end('eof', 0);
    expect(client.open({ method: 'POST' }, 1).ordinal).toBe(0);
  });

  it.each([
    ['/feed?b=2&a=1', '/feed?a=1&b=2', true],
    ['/feed?since=4', '/feed?since=9', true],
    ['/feed?access_token=x', '/feed?access_token=y', true],
    ['/feed?room=1', '/feed?room=2', false],
    ['/feed', '/food', false],
  ])('L4: %s and %s are one stream: %s', (target, other, isOne) => {
    const client = new Client();
    client.open({ target }).end('reset', 0);
    expect(client.open({ target: other }, 1).ordinal).toBe(isOne ? 1 : 0);
  });

  it('L4: an application may name its streams itself', () => {
    const client = new Client({ streamKey: ({ target }) => target.slice(0, 2) });
    client.open({ target: '/a1' }).end('reset', 0);
    expect(client.open({ target: '/a2' }, 1).ordinal).toBe(1);
    expect(client.open({ target: '/b2' }, 1).ordinal).toBe(0);
  });

  it('L5: two connections at once are two streams, unless both continue the same one', () => {
    const client = new Client();
    const first = client.open();
    expect(client.open().ordinal).toBe(0);
    events(first, 5);
    first.end('reset', 1);
    const one = client.resume('5');
    const two = client.resume('5');
    events(one, 6);
    events(two, 6);
    expect([one.ordinal, two.ordinal, two.repeated]).toEqual([1, 2, 1]);
  });

  it('L5: readers of one feed that are dropped together at one cursor go on one stream each', () => {
    const client = new Client();
    const readers = [client.open(), client.open(), client.open()];
    for (const reader of readers) events(reader, 5);
    for (const reader of readers) reader.end('reset', 1);
    const resumed = readers.map(() => client.resume('5'));
    for (const reader of resumed) events(reader, 6, 7);
    expect(resumed.map(({ ordinal }) => ordinal)).toEqual([1, 1, 1]);
    expect(resumed.map(({ repeated }) => repeated)).toEqual([0, 0, 0]);
  });

  it('L6: a redirect is the same attempt: the key of the first request, the cursor of the last', () => {
    const client = new Client();
    const first = client.open();
    events(first, 5);
    first.end('reset', 0);
    const attempt = client.ask({ headers: { 'last-event-id': '5' } });
    const headers: Record<string, string> = { 'last-event-id': '4' };
    attempt.redirect({
      transport: 'sse',
      method: 'GET',
      origin: 'http://a.test',
      target: '/moved',
      header: (name) => headers[name],
    });
    attempt.response(200, (name) => (name === 'content-type' ? 'text/event-stream' : undefined));
    events(attempt, 6);
    expect(attempt.ordinal).toBe(1);
    expect(client.settled.at(-1)).toMatchObject({ requestedCursor: '4', firstCursor: '6' });
  });

  it('counts no connection and remembers nothing where no answer came', () => {
    const client = new Client();
    const first = client.open();
    events(first, 5);
    first.end('reset', 0);
    client.ask({ headers: { 'last-event-id': '5' } }, 1).end('reset', 1);
    expect(client.settled.filter(({ verdict }) => verdict)).toEqual([]);
    expect(client.resume('5', {}, 2).ordinal).toBe(1);
  });

  it('is no stream where the first answer is none', () => {
    const client = new Client();
    const attempt = client.ask();
    expect(
      attempt.response(200, (name) => (name === 'content-type' ? 'text/html' : undefined)),
    ).toBe(false);
    expect([...client.final.values()]).toEqual([[]]);
  });
});

describe('what a connection tells', () => {
  it('R16: a verdict once, revised once by a later proof, never towards resumed', () => {
    const client = new Client();
    const connection = client.resume('9');
    connection.timeout();
    expect(client.verdicts).toEqual(['no_events']);
    events(connection, 3);
    events(connection, 2);
    expect(client.revised.map(({ verdict }) => verdict?.reason)).toEqual(['cursor_not_advanced']);
    connection.end('reset', 1);
    expect([...client.final.values()][0]).toMatchObject([{ revised: true }]);
  });

  it('R18a: ids of comments, priming events and later events decide nothing', () => {
    const client = new Client();
    const connection = client.resume('9');
    connection.pushString(': hello\n\nid: 12\ndata:\n\n');
    expect(client.verdicts).toEqual([]);
    events(connection, 13, 4);
    expect(client.verdicts).toEqual(['no_epoch']);
  });

  it('R20: an id that falls back inside the connection is a finding of its own', () => {
    const client = new Client();
    const connection = client.open();
    events(connection, 8, 9, 1, 2);
    expect(client.inStream).toEqual([{ kind: 'cursor_not_advanced', missed: 'unknown' }]);
  });

  it('G2: a payload counts as repeated until the stream repeats one inside a connection', () => {
    const client = new Client();
    const first = client.open();
    first.pushString('data: a\n\ndata: b\n\n');
    first.end('reset', 0);
    const second = client.open({}, 1);
    second.pushString('data: a\n\n');
    expect(second.repeated).toBe(1);
    second.pushString('data: c\n\ndata: c\n\n');
    second.end('reset', 2);
    expect(client.final.get(second)?.[0]?.duplicates).toBe('unknown');
  });

  it('G3: the same id with another payload is no duplicate', () => {
    const client = new Client();
    const first = client.open();
    first.pushString('id: 1\ndata: a\n\nid: 2\ndata: b\n\n');
    first.end('reset', 0);
    const second = client.resume('2');
    second.pushString('id: 1\ndata: other\n\n');
    expect(second.repeated).toBe(0);
  });

  it('compares ids alone where the configuration says so', () => {
    const client = new Client({ identity: 'id' });
    const first = client.open();
    events(first, 1, 2);
    first.end('reset', 0);
    const second = client.resume('2');
    second.pushString('id: 2\ndata: other\n\n');
    expect(second.repeated).toBe(1);
  });

  it('compares JSON with sorted keys where the configuration says so', () => {
    const client = new Client({ identity: 'canonical-json' });
    const first = client.open();
    first.pushString('data: {"a":1,"b":2}\n\n');
    first.end('reset', 0);
    const second = client.open({}, 1);
    second.pushString('data: {"b":2,"a":1}\n\n');
    expect(second.repeated).toBe(1);
  });

  it('hands the context of a connection to the one after it', () => {
    const client = new Client();
    const first = client.open();
    events(first, 5);
    first.context = { span: 1 };
    first.end('reset', 0);
    expect(client.resume('5').previous).toBe(first.context);
  });

  it('wants requests whose answer matters even when it is no stream', () => {
    const { timeline } = new Client();
    const wants = (target: string, headers: Record<string, string> = {}): boolean =>
      timeline.wants({
        transport: 'sse',
        method: 'GET',
        origin: '',
        target,
        header: (name) => headers[name],
      });
    expect(wants('/any', { 'last-event-id': '1' })).toBe(true);
    expect(wants('/v1/stream/x?offset=7&live=sse')).toBe(true);
    expect(wants('/api/users?page=2')).toBe(false);
  });

  it('M1, M3: a WebSocket that carries the cursor of an SSE stream continues it', () => {
    const profile = {
      name: 'session',
      match: { path: '^/session/' },
      key: '^/session/([^/]+)/',
      messages: 'json',
      cursor: {
        sent: ['req-header:last-event-id', 'query:last_event_id'],
        received: ['sse:id', 'json:/id'],
        codec: 'int',
        dense: true,
      },
      epoch: { received: ['header:x-generation'] },
    } as const;
    const client = new Client({ profiles: [profile] });
    const generation = { 'x-generation': 'g1' };
    const feed = client.open({ target: '/session/s/events' }, 0, generation);
    events(feed, 9, 10);
    feed.end('reset', 1);
    const target = '/session/s/ws?last_event_id=10';
    const socket = client.open({ transport: 'websocket', target }, 2, generation);
    socket.message('{"id":14}');
    socket.end('close:1006', 3);
    expect(client.final.get(socket)).toMatchObject([
      { verdict: { reason: 'window_exceeded' }, missed: 3, duplicates: 0 },
    ]);
  });

  it('R12: a window of no events covers nothing, whoever keeps its generation', () => {
    const client = new Client();
    for (const window of [0, 200]) {
      const target = `/feed/${window}`;
      const answer = { 'stream-continuity': `gen="g", window=${window}` };
      const first = client.open({ target }, 0, answer);
      events(first, 9, 10);
      first.end('reset', 1);
      events(client.resume('10', { target }, 2, answer), 14);
    }
    expect(client.verdicts).toEqual(['no_window', 'epoch_and_window']);
  });

  it('R17: a server that sends request headers back is no hub that names where it resumes', () => {
    const client = new Client();
    for (const target of ['/feed?topic=a', '/.well-known/mercure?topic=a']) {
      const first = client.open({ target });
      events(first, 'a');
      first.end('reset', 1);
      events(client.resume('a', { target }, 2, { 'last-event-id': 'a' }), 'c');
    }
    expect(client.verdicts).toEqual(['not_comparable', 'cursor_echoed']);
  });

  it('forgets the longest closed streams first, and only those', () => {
    const client = new Client({ closedStreams: 2 });
    for (const target of ['/a', '/b', '/c']) client.open({ target }).end('reset', 0);
    const ordinals = ['/a', '/b', '/c'].map((target) => client.ask({ target }, 1).ordinal);
    expect(ordinals).toEqual([0, 1, 1]);
  });
});

describe('a WebSocket that no profile describes', () => {
  const SOCKET: Given = { transport: 'websocket', target: '/plain' };

  /** One that breaks off after these messages. */
  function dropped(client: Client, ...messages: readonly string[]): void {
    const socket = client.open(SOCKET);
    for (const message of messages) socket.message(message);
    socket.end('close:1006', 1);
  }

  it('R15: is unverifiable at its handshake where the one before said nothing of a protocol', () => {
    const client = new Client();
    dropped(client, 'plain');
    const socket = client.open(SOCKET, 2);
    expect(client.verdicts).toEqual(['no_profile']);
    expect(socket.reads).toBe('identity');
    socket.message('plain');
    socket.end('open', 3);
    expect(client.final.get(socket)).toMatchObject([
      { verdict: { reason: 'no_profile' }, duplicates: 1 },
    ]);
    expect(client.revised).toEqual([]);
  });

  it('waits as long as a protocol may still show itself: nothing was said before, or half a sign', () => {
    for (const said of [[], ['{"connect":{"client":"c","version":"1"}}']]) {
      const client = new Client();
      dropped(client, ...said);
      client.open(SOCKET, 2);
      expect(client.verdicts).toEqual([]);
    }
  });

  it('is still known by its protocol when the next connection speaks one that was not taken for generic', () => {
    const client = new Client();
    dropped(client);
    const socket = client.open(SOCKET, 2);
    socket.sent('{"id":1,"connect":{}}');
    socket.message('{"id":1,"connect":{"client":"c","version":"1"}}');
    expect(socket.protocol).toBe('centrifugo');
  });
});
