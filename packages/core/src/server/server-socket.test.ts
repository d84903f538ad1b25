import { describe, expect, it } from 'vitest';
import type { ConnectionEnd, StreamConnection, StreamReport } from '../connection.ts';
import type { Profile } from '../profile/profile.ts';
import type { TimelineOptions } from '../timeline/client-timeline.ts';
import { createServerTimeline } from './server-timeline.ts';

/** Cursor in the query, positions in what is sent. */
const TASKS: Profile = {
  name: 'tasks',
  match: { transport: 'websocket', path: '^/tasks' },
  messages: 'json',
  cursor: { sent: ['query:since'], received: ['json:/seq'], codec: 'int' },
  epoch: { sent: ['query:epoch'], received: ['json:/epoch'] },
  control: [{ 'json:/type': ['hello', 'ping'] }],
  refused: [{ close: [4009] }, { 'json:/type': 'refused' }],
};

/** Cursor in a frame, one stream for each channel. */
const CHANNELS: Profile = {
  name: 'channels',
  match: { transport: 'websocket', path: '^/channels' },
  messages: 'json',
  stream: ['json:/channel', 'sent-json:/subscribe/channel'],
  events: ['json:/replay'],
  reply: { sent: 'sent-json:/id', received: 'json:/id' },
  cursor: { sent: ['sent-json:/subscribe/since'], received: ['json:/seq'], codec: 'int' },
  control: [{ 'json:/type': 'hello' }, { 'json:/replay': { present: true } }],
};

interface Asked {
  readonly target?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answer?: Readonly<Record<string, string>>;
}

class Server {
  readonly reports: StreamReport[] = [];
  readonly ended: [ConnectionEnd, readonly StreamReport[]][] = [];
  readonly #timeline;

  constructor(options: Partial<TimelineOptions> = {}) {
    const keep = (_: StreamConnection, report: StreamReport): void => {
      this.reports.push(report);
    };
    this.#timeline = createServerTimeline({
      profiles: [TASKS, CHANNELS],
      ...options,
      observer: {
        settled: keep,
        revised: keep,
        inStream() {},
        ended: (_, end, reports) => {
          this.ended.push([end, reports]);
        },
      },
    });
  }

  open({ target = '/tasks', status = 101, headers = {}, answer = {} }: Asked = {}) {
    const connection = this.#timeline.open(
      { transport: 'websocket', method: 'GET', origin: '', target, header: (n) => headers[n] },
      0,
    );
    connection.response(status, (name) => answer[name]);
    return connection;
  }

  get verdicts(): unknown[] {
    return this.reports
      .filter(({ verdict }) => verdict !== undefined)
      .map(({ stream, verdict, missed }) => [
        ...(stream === undefined ? [] : [stream]),
        verdict?.classification,
        verdict?.reason,
        missed,
      ]);
  }
}

const event = (seq: number, text = `t${seq}`): string => JSON.stringify({ seq, text });

function send(connection: StreamConnection, ...seqs: number[]): void {
  for (const seq of seqs) connection.sent(event(seq));
}

describe('a server judges the WebSockets that it accepted', () => {
  it('gives a first connection no verdict, and says that it is up with its first event', () => {
    const server = new Server();
    const connection = server.open();
    connection.sent(JSON.stringify({ type: 'hello' }));
    expect(server.reports).toEqual([]);
    send(connection, 1, 2);
    expect(server.reports).toMatchObject([{ verdict: undefined, firstCursor: '1' }]);
    connection.end('close:1000');
    expect(connection.events).toBe(2);
    expect(server.ended).toMatchObject([['close:1000', [{ lastCursor: '2' }]]]);
  });

  it.each([
    [404, 'stream_gone'],
    [409, 'cursor_conflict'],
    [503, 'http_5xx'],
  ])('V1: a handshake answered with %i refuses with %s', (status, reason) => {
    const server = new Server();
    server.open({ target: '/tasks?since=5', status });
    expect(server.verdicts).toEqual([['refused', reason, 0]]);
    expect(server.ended).toHaveLength(1);
  });

  it('V1: a refused handshake without a cursor has no verdict and brought no connection', () => {
    const server = new Server();
    server.open({ status: 401 });
    expect(server.reports).toEqual([]);
    expect(server.ended).toEqual([['eof', []]]);
  });

  it('V1: a close code or a frame of the profile refuses', () => {
    const server = new Server();
    server.open({ target: '/tasks?since=5' }).end('close:4009');
    const another = server.open({ target: '/tasks?since=5' });
    another.sent(JSON.stringify({ type: 'refused' }));
    another.end('close:1000');
    expect(server.verdicts).toEqual([
      ['refused', 'refusal_frame', 0],
      ['refused', 'refusal_frame', 0],
    ]);
  });

  it('V2: what the application declares evicted exceeds the window', () => {
    const server = new Server();
    const answer = { 'stream-continuity': 'received="5", oldest="9", reason=evicted, dense' };
    server.open({ target: '/tasks?since=5', answer });
    expect(server.verdicts).toEqual([['reoriginated', 'window_exceeded', 3]]);
  });

  it('V3: what the application declares unknown is', () => {
    const server = new Server();
    const answer = { 'stream-continuity': 'received="5", status=reset, reason=unknown-id' };
    server.open({ target: '/tasks?since=5', answer });
    expect(server.verdicts).toEqual([['reoriginated', 'cursor_unknown', 'unknown']]);
  });

  it('V4: an event at or below the cursor does not go on from it', () => {
    const server = new Server();
    send(server.open({ target: '/tasks?since=44' }), 1);
    expect(server.verdicts).toEqual([['reoriginated', 'cursor_not_advanced', 'unknown']]);
  });

  it('V5: events that were sent to this stream and are skipped are counted', () => {
    const server = new Server();
    const first = server.open();
    send(first, 1, 2, 3, 4, 5);
    first.end('close:1006');
    const second = server.open({ target: '/tasks?since=2' });
    send(second, 6);
    expect(server.verdicts).toEqual([['reoriginated', 'window_exceeded', 3]]);
  });

  it('V6: an id that is sent again with another payload is reused', () => {
    const server = new Server();
    const first = server.open();
    send(first, 1, 2, 3);
    first.end('close:1006');
    server.open({ target: '/tasks?since=2' }).sent(event(3, 'something else'));
    expect(server.verdicts).toEqual([['reoriginated', 'id_reused', 'unknown']]);
  });

  it('G3: ids below the cursor with other payloads are reused ids, and no duplicates', () => {
    for (const [again, duplicates] of [
      [event(1), 1],
      [event(1, 'something else'), 0],
    ] as const) {
      const server = new Server();
      const first = server.open();
      send(first, 1, 2, 3);
      first.end('close:1006');
      const second = server.open({ target: '/tasks?since=2' });
      second.sent(again);
      second.end('close:1000');
      expect(server.ended.at(-1)?.[1]).toMatchObject([{ duplicates }]);
    }
  });

  it('V8: a replay that begins right after the cursor is resumed', () => {
    const server = new Server();
    const first = server.open();
    send(first, 1, 2, 3, 4);
    first.end('close:1006');
    const second = server.open({ target: '/tasks?since=2' });
    second.sent(JSON.stringify({ type: 'hello' }));
    send(second, 3, 4, 5);
    expect(server.verdicts).toEqual([['resumed', 'replay_observed', 0]]);
    second.end('close:1000');
    expect(server.ended.at(-1)?.[1]).toMatchObject([{ replayed: 2, duplicates: 0 }]);
  });

  it.each([
    ['no_events', [] as number[], 'close:1000'],
    ['cursor_unknown_here', [45], undefined],
  ] as const)('V9: %s', (reason, seqs, end) => {
    const server = new Server();
    const connection = server.open({ target: '/tasks?since=44' });
    send(connection, ...seqs);
    if (end !== undefined) connection.end(end);
    expect(server.verdicts).toEqual([['unverifiable', reason, 'unknown']]);
  });

  it('V9: no_events when its time is up', () => {
    const server = new Server();
    server.open({ target: '/tasks?since=44' }).timeout();
    expect(server.verdicts).toEqual([['unverifiable', 'no_events', 'unknown']]);
  });

  it('V9: no_ids for events without a position', () => {
    const server = new Server();
    server.open({ target: '/tasks?since=44' }).sent('{"text":"?"}');
    expect(server.verdicts).toEqual([['unverifiable', 'no_ids', 'unknown']]);
  });

  it('V9: no_window when nothing was sent since the cursor', () => {
    const server = new Server();
    const first = server.open();
    send(first, 1, 2);
    first.end('close:1006');
    send(server.open({ target: '/tasks?since=2' }), 3);
    expect(server.verdicts).toEqual([['unverifiable', 'no_window', 'unknown']]);
  });

  it('knows the epoch of what it sends', () => {
    const server = new Server();
    const connection = server.open({ target: '/tasks?since=2&epoch=e1' });
    connection.sent(JSON.stringify({ seq: 3, epoch: 'e2' }));
    expect(server.reports).toMatchObject([{ epoch: 'e2', requestedCursor: '2' }]);
  });
});

describe('R19: a server judges each stream of a WebSocket', () => {
  const subscribe = (id: number, channel: string, since?: number): string =>
    JSON.stringify({ id, subscribe: { channel, since } });
  const push = (channel: string, seq: number): string => JSON.stringify({ channel, seq });

  it('by the cursor that a frame carries, and the log of its own', () => {
    const server = new Server();
    const first = server.open({ target: '/channels' });
    first.message(subscribe(1, 'news'));
    first.message(subscribe(2, 'mail'));
    for (const seq of [1, 2, 3]) first.sent(push('news', seq));
    for (const seq of [7, 8]) first.sent(push('mail', seq));
    first.end('close:1006');
    expect(server.verdicts).toEqual([]);
    const second = server.open({ target: '/channels' });
    second.sent(JSON.stringify({ type: 'hello' }));
    second.message(subscribe(1, 'news', 1));
    second.message(subscribe(2, 'mail', 8));
    second.sent(push('news', 2));
    second.sent(push('mail', 5));
    expect(server.verdicts).toEqual([
      ['news', 'resumed', 'replay_observed', 0],
      ['mail', 'reoriginated', 'cursor_not_advanced', 'unknown'],
    ]);
    expect(second.resumeRequested).toBe(true);
    expect(second.settled).toBe(true);
    expect(second.events).toBe(2);
  });

  it('by a replay that comes inside of a reply', () => {
    const server = new Server();
    const first = server.open({ target: '/channels' });
    first.message(subscribe(1, 'news'));
    for (const seq of [1, 2, 3]) first.sent(push('news', seq));
    first.end('close:1006');
    const second = server.open({ target: '/channels' });
    second.message(subscribe(9, 'news', 1));
    second.sent(JSON.stringify({ id: 9, replay: [{ channel: 'news', seq: 2 }] }));
    expect(server.verdicts).toEqual([['news', 'resumed', 'replay_observed', 0]]);
  });

  it('and what was sent before the cursor came is no answer to it', () => {
    const server = new Server();
    const connection = server.open({ target: '/channels' });
    connection.sent(push('news', 1));
    expect(server.reports).toEqual([]);
    connection.message(subscribe(1, 'news', 40));
    connection.sent(push('news', 41));
    expect(server.verdicts).toEqual([['news', 'unverifiable', 'cursor_unknown_here', 'unknown']]);
  });
});

describe('which protocol an accepted WebSocket speaks', () => {
  it('is none where nothing shows one: then it is counted, and nothing of it read', () => {
    const server = new Server();
    const connection = server.open({ target: '/anything' });
    expect(connection.reads).toBe('messages');
    for (let n = 0; n < 20; n++) connection.sent(`opaque ${n}`);
    expect(connection.reads).toBe('nothing');
    expect(connection.protocol).toBe('websocket');
    connection.sent('');
    connection.sent(Uint8Array.of(1));
    connection.sent(undefined);
    expect(connection.events).toBe(23);
    expect(connection.settled).toBe(true);
    expect(server.reports).toMatchObject([{ verdict: undefined }]);
    connection.end('close:1001');
    expect(server.ended).toMatchObject([['close:1001', [{ verdict: undefined }]]]);
  });

  it('may be told by a few messages, after which the first of them are read', () => {
    const server = new Server();
    const connection = server.open({ target: '/socket.io/?EIO=4&transport=websocket' });
    connection.sent('0{"sid":"s1","upgrades":[],"pingInterval":25000}');
    expect(connection.protocol).toBe('socket.io');
    connection.message('40');
    connection.sent('40{"sid":"a","pid":"p"}');
    connection.sent('42["news","one","o1"]');
    expect(connection.events).toBe(1);
    connection.end('close:1000');
    expect(server.ended[0]?.[1]).toMatchObject([{ stream: '/', lastCursor: 'o1' }]);
  });

  it('is up with its first message where no protocol reads any, and counted', () => {
    const server = new Server({ profiles: [{ name: 'plain', match: { transport: 'websocket' } }] });
    const connection = server.open({ target: '/anything' });
    expect(connection.reads).toBe('nothing');
    expect(connection.settled).toBe(false);
    connection.sent('');
    connection.sent('');
    expect(server.reports).toMatchObject([{ verdict: undefined }]);
    expect(connection.events).toBe(2);
    connection.end('close:1000');
    expect(server.ended).toMatchObject([['close:1000', [{ verdict: undefined }]]]);
  });

  it('is settled as none when its time is up, or it ends, before enough was said', () => {
    const server = new Server();
    const first = server.open({ target: '/anything' });
    first.sent('one');
    expect(first.settled).toBe(false);
    first.timeout();
    expect(first.settled).toBe(true);
    expect(first.reads).toBe('nothing');
    first.sent('two');
    const counter = { messages: 3 };
    first.countWith?.(counter);
    counter.messages = 5;
    expect(first.events).toBe(7);
    const second = server.open({ target: '/anything' });
    second.sent('one');
    second.end('close:1000');
    expect(server.reports).toHaveLength(2);
    expect(second.events).toBe(1);
  });
});
