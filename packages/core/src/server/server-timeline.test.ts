import { describe, expect, it } from 'vitest';
import type { StreamConnection, StreamReport } from '../connection.ts';
import { idTagOf } from '../id-tag.ts';
import type { TimelineOptions } from '../timeline/client-timeline.ts';
import { createServerTimeline } from './server-timeline.ts';

interface Given {
  readonly target?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly answer?: Readonly<Record<string, string>>;
}

type Written = string | readonly [id: string, data: string];

class Server {
  readonly reports: StreamReport[] = [];
  readonly ended: StreamReport[] = [];
  readonly #timeline;

  constructor(options: Partial<TimelineOptions> = {}) {
    const keep = (_: StreamConnection, report: StreamReport): void => {
      if (report.verdict) this.reports.push(report);
    };
    this.#timeline = createServerTimeline({
      ...options,
      observer: {
        settled: keep,
        revised: keep,
        inStream() {},
        ended: (_, _end, reports) => void this.ended.push(...reports),
      },
    });
  }

  open({
    target = '/feed',
    method = 'GET',
    headers = {},
    status = 200,
    answer,
  }: Given = {}): StreamConnection {
    const connection = this.#timeline.open(
      { transport: 'sse', method, origin: '', target, header: (name) => headers[name] },
      0,
    );
    const sent: Record<string, string> = { 'content-type': 'text/event-stream', ...answer };
    connection.response(status, (name) => sent[name]);
    return connection;
  }

  resume(cursor: string, given: Given = {}): StreamConnection {
    return this.open({ ...given, headers: { 'last-event-id': cursor, ...given.headers } });
  }
}

function write(connection: StreamConnection, ...events: readonly Written[]): void {
  for (const event of events) {
    const [id, data] = typeof event === 'string' ? [event, `t-${event}`] : event;
    connection.pushString(`id: ${id}\ndata: ${data}\n\n`);
  }
}

const verdicts = ({ reports }: Server): unknown[] =>
  reports.map(({ verdict, missed }) => [verdict?.classification, verdict?.reason, missed]);
const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => String(from + n));

describe('a server judges its own answers', () => {
  it('gives a first connection no verdict', () => {
    const server = new Server();
    write(server.open(), ...range(1, 5));
    expect(verdicts(server)).toEqual([]);
  });

  it.each([
    [404, 'stream_gone'],
    [409, 'cursor_conflict'],
    [204, 'nothing_to_resume'],
    [503, 'http_5xx'],
  ])('V1: an answer of %i refuses with %s', (status, reason) => {
    const server = new Server();
    server.resume('5', { status });
    expect(verdicts(server)).toEqual([['refused', reason, 0]]);
  });

  it('V2: a declared oldest position above the cursor is a window exceeded, counted when dense', () => {
    const server = new Server();
    const answer = { 'stream-continuity': 'gen="g", received="5", oldest="9", dense' };
    write(server.resume('5', { answer }), '9');
    expect(verdicts(server)).toEqual([['reoriginated', 'window_exceeded', 3]]);
  });

  it('V3: a declared unknown cursor is re-origination', () => {
    const server = new Server();
    const answer = {
      'stream-continuity': 'status=reset, gen="g", received="5", reason=unknown-id',
    };
    write(server.resume('5', { answer }), '9');
    expect(verdicts(server)).toEqual([['reoriginated', 'cursor_unknown', 'unknown']]);
  });

  it('V4: cursor 4118 answered with id 13 by an instance that never held the session', () => {
    const server = new Server();
    write(server.resume('4118'), '13', '14');
    expect(verdicts(server)).toEqual([['reoriginated', 'cursor_not_advanced', 'unknown']]);
  });

  it('V4: a lower id is no fall-back when this very log has it after the cursor', () => {
    const server = new Server();
    const first = server.open();
    write(first, '50', '7', '60');
    first.end('reset');
    write(server.resume('50'), '7', '60');
    expect(verdicts(server)).toEqual([['resumed', 'replay_observed', 0]]);
  });

  it('V5: a window of 200 that was overrun in silence is seen and counted, far behind the ring', () => {
    const server = new Server({ history: 64 });
    const halfDead = server.open();
    write(halfDead, ...range(4000, 4549));
    write(server.resume('4118'), ...range(4350, 4360));
    expect(verdicts(server)).toEqual([['reoriginated', 'window_exceeded', 231]]);
  });

  it('V5: going on live skips everything that was written to others meanwhile', () => {
    const server = new Server();
    const dropped = server.open();
    const other = server.open();
    write(dropped, 'a', 'b');
    write(other, 'a', 'b');
    dropped.end('reset');
    write(other, 'c', 'd', 'e');
    write(server.resume('b'), 'f');
    expect(verdicts(server)).toEqual([['reoriginated', 'window_exceeded', 3]]);
  });

  it('V5: an honest replay of what was written to nobody before skips nothing', () => {
    const server = new Server();
    const away = server.open();
    write(away, '6');
    away.end('reset');
    write(server.open(), '9', '10', '11');
    write(server.resume('6'), '7', '8', '9');
    expect(verdicts(server)).toEqual([['unverifiable', 'no_window', 'unknown']]);
  });

  it('V5: readers of one path who are sent events of their own are not taken for one another', () => {
    const server = new Server();
    const alice = server.open();
    write(alice, '1');
    alice.end('reset');
    write(server.open(), '2', '3', '4');
    write(server.resume('1'), '5');
    expect(verdicts(server)).toEqual([['unverifiable', 'no_window', 'unknown']]);
  });

  it('V5: numbers tell a skip from a feed of its own, also when nobody was there all along', () => {
    const server = new Server();
    const away = server.open();
    write(away, ...range(1, 18));
    away.end('reset');
    write(server.open(), ...range(20, 60));
    write(server.resume('18'), ...range(45, 60));
    expect(verdicts(server)).toEqual([['reoriginated', 'window_exceeded', 'unknown']]);
  });

  it('V5: what was skipped is no number where events may have been written to nobody', () => {
    const server = new Server();
    const away = server.open();
    write(away, 'a', 'b', 'c');
    away.end('reset');
    write(server.resume('a'), 'x');
    expect(verdicts(server)).toEqual([['reoriginated', 'window_exceeded', 'unknown']]);
  });

  it('V8: an event that came first after a time without readers is no proven successor', () => {
    const server = new Server();
    const away = server.open();
    write(away, '2', '3');
    away.end('reset');
    write(server.open(), '5', '6');
    write(server.resume('3'), '5', '6');
    expect(verdicts(server)).toEqual([['unverifiable', 'no_window', 'unknown']]);
  });

  it('V8: a reader that was there all along proves what follows, whoever was written to first', () => {
    const server = new Server();
    const away = server.open();
    const steady = server.open();
    write(away, '2', '3');
    write(steady, '2', '3');
    away.end('reset');
    write(server.open(), '4', '5');
    write(steady, '4', '5');
    write(server.resume('3'), '4', '5');
    expect(verdicts(server)).toEqual([['resumed', 'replay_observed', 0]]);
  });

  it('V8: numbers that each connection counts on by itself prove nothing once two have clashed', () => {
    const server = new Server();
    const steady = server.open();
    write(steady, ['1', 'a'], ['2', 'b'], ['3', 'c']);
    steady.end('reset');
    const counting = server.resume('2');
    write(counting, ['3', 'd'], ['4', 'e']);
    write(server.resume('3'), ['4', 'e']);
    expect(verdicts(server)).toEqual([
      ['reoriginated', 'id_reused', 'unknown'],
      ['unverifiable', 'no_window', 'unknown'],
    ]);
  });

  it('V6: aligned numbers with another payload under them are another log', () => {
    const server = new Server();
    write(server.open(), ...range(4100, 4200));
    write(server.resume('4118'), ['4119', 't-4350'], ['4120', 't-4351']);
    expect(verdicts(server)).toEqual([['reoriginated', 'id_reused', 'unknown']]);
  });

  const AT_5 = 'status=resumed, gen="g", from="5"';
  it.each([
    ['V7: a store that knows the cursor vouches for its successor', `${AT_5}, next="8"`, '8'],
    ['V7: at the head of the log any live event is the successor', `${AT_5}, newest="5"`, '9'],
  ])('%s', (_, field, id) => {
    const server = new Server();
    write(server.resume('5', { answer: { 'stream-continuity': field } }), id);
    expect(verdicts(server)).toEqual([['resumed', 'store_replayed', 0]]);
  });

  it.each([
    ['another event than the promised one comes first', `${AT_5}, next="8"`],
    ['the store names no successor and no end of its log', AT_5],
    ['the promise is for another cursor', 'status=resumed, gen="g", from="4", next="9"'],
    ['nothing is promised', 'status=unknown, gen="g", received="5", newest="5"'],
  ])('V7: proves nothing where %s', (_, field) => {
    const server = new Server();
    write(server.resume('5', { answer: { 'stream-continuity': field } }), '9');
    expect(verdicts(server)).toEqual([['unverifiable', 'cursor_unknown_here', 'unknown']]);
  });

  it('V8: of a broadcast only what was there before its reader came is replayed, whoever is sent it first', () => {
    const server = new Server();
    const stays = server.open();
    write(stays, ...range(1, 9));
    const back = server.resume('5');
    write(back, ...range(6, 9));
    for (const id of range(10, 40)) {
      write(stays, id);
      write(back, id);
    }
    back.end('eof', 1);
    expect(verdicts(server)).toEqual([['resumed', 'replay_observed', 0]]);
    expect(server.ended.map(({ replayed }) => replayed)).toEqual([4]);
  });

  it('V8: the event that was written right after the cursor is written again', () => {
    const server = new Server();
    const first = server.open();
    write(first, ...range(1, 9));
    first.end('reset');
    write(server.resume('5'), ...range(6, 12));
    expect(verdicts(server)).toEqual([['resumed', 'replay_observed', 0]]);
  });

  it.each([
    ['no_events', (c: StreamConnection) => c.end('reset')],
    ['no_events', (c: StreamConnection) => c.timeout()],
    ['no_ids', (c: StreamConnection) => c.pushString('data: x\n\n')],
    ['cursor_unknown_here', (c: StreamConnection) => write(c, 'zz')],
  ])('V9: what cannot be proven is unverifiable: %s', (reason, act) => {
    const server = new Server();
    write(server.open(), 'a', 'b');
    act(server.resume('c'));
    expect(verdicts(server)).toEqual([['unverifiable', reason, 'unknown']]);
  });

  it('V9: what was never written to anybody is invisible from here', () => {
    const server = new Server();
    const first = server.open();
    write(first, '1', '2', '3');
    first.end('reset');
    write(server.resume('3'), '9');
    expect(verdicts(server)).toEqual([['unverifiable', 'no_window', 'unknown']]);
  });

  it('accuses nobody where each reader is sent its own choice of one numbering', () => {
    const server = new Server();
    const mine = server.open();
    const yours = server.open();
    write(mine, '1', '4', '5');
    write(yours, '2', '3', '6', '7');
    mine.end('reset');
    write(server.resume('5'), '8');
    expect(verdicts(server)).toEqual([['unverifiable', 'cursor_unknown_here', 'unknown']]);
  });

  it('accuses nobody where each reader has a counter of its own', () => {
    const server = new Server();
    const mine = server.open();
    const yours = server.open();
    write(mine, ['1', 'm1'], ['2', 'm2']);
    write(yours, ['1', 'y1'], ['2', 'y2'], ['3', 'y3']);
    mine.end('reset');
    write(server.resume('2'), ['3', 'm3']);
    expect(verdicts(server)).toEqual([['unverifiable', 'cursor_unknown_here', 'unknown']]);
  });

  it('keeps the answers to POSTs apart and finds the one that a GET resumes', () => {
    const server = new Server();
    const session = { 'mcp-session-id': 's' };
    const first = server.open({ method: 'POST', target: '/mcp', headers: session });
    write(first, 'a1', 'a2');
    write(server.open({ method: 'POST', target: '/mcp', headers: session }), 'b1', 'b2', 'b3');
    write(first, 'a3');
    first.end('reset');
    write(server.resume('a2', { target: '/mcp', headers: session }), 'a3');
    expect(verdicts(server)).toEqual([['resumed', 'replay_observed', 0]]);
  });

  it('counts what a resumed reader is sent again', () => {
    const server = new Server();
    const first = server.open();
    write(first, ...range(1, 6));
    first.end('reset');
    const second = server.resume('4');
    write(second, ...range(1, 8));
    expect(second.repeated).toBe(4);
    expect(server.reports[0]?.verdict?.reason).toBe('cursor_not_advanced');
  });
});

it('tells the last position also where positions stand in the data', () => {
  const server = new Server({
    profiles: [
      {
        name: 'orders',
        match: { path: '^/feed' },
        cursor: { sent: ['query:since'], received: ['json:/seq'], codec: 'int' },
      },
    ],
  });
  server.open().pushString('data: {"seq":10}\n\ndata: {"seq":11}\n\n');
  const back = server.open({ target: '/feed?since=11' });
  back.pushString('data: {"seq":9}\n\n');
  expect(server.reports).toMatchObject([
    { requestedCursor: '11', firstCursor: '9', lastCursor: '9' },
  ]);
});

describe('what a report says of the log', () => {
  const idsIn = ({ reports, ended }: Server, asTags = false): unknown =>
    [...reports, ...ended].at(-1)?.written?.log.idsFrom(0, asTags);

  it('is stretches of consecutive numbers, the latest eight, and tags of the other ids', () => {
    const server = new Server();
    const connection = server.open();
    for (let stretch = 0; stretch < 10; stretch++) {
      write(connection, ...range(100 * stretch + 1, 100 * stretch + 20));
    }
    write(connection, 'a', 'b');
    connection.end('eof', 0);
    const told = Array.from({ length: 8 }, (_, n) => [100 * n + 201, 100 * n + 220]);
    expect(idsIn(server)).toEqual({ runs: told, tags: [idTagOf('a'), idTagOf('b')] });
  });

  it('is the tags of the latest 64 ids where numbers are not to be told', () => {
    const server = new Server();
    const connection = server.open();
    write(connection, ...range(1, 100));
    connection.end('eof', 0);
    expect(idsIn(server, true)).toEqual({ runs: [], tags: range(37, 100).map(idTagOf) });
  });

  it.each([
    ['the answer declares', { answer: { 'stream-continuity': 'gen="g"' } }, 'g'],
    ['nobody declares', {}, undefined],
  ])('is under the epoch that %s', (_, given, epoch) => {
    const server = new Server();
    write(server.resume('1', given), '2');
    expect(server.reports.map(({ logEpoch }) => logEpoch)).toEqual([epoch]);
  });

  it("is under the protocol's own epoch where only some instances stamp their answers", () => {
    const profile = {
      name: 'logged',
      match: { transport: 'sse' },
      cursor: { sent: ['req-header:last-event-id'], received: ['sse:id'], codec: 'opaque' },
      epoch: { received: ['header:x-log'] },
    } as const;
    const logEpochOf = (answer: Record<string, string>): unknown => {
      const server = new Server({ profiles: [profile] });
      write(server.resume('1', { answer }), '2');
      return server.reports.map(({ logEpoch }) => logEpoch);
    };
    expect(logEpochOf({ 'x-log': 'a' })).toEqual(['a']);
    expect(logEpochOf({ 'x-log': 'a', 'stream-continuity': 'gen="g"' })).toEqual(['a']);
  });
});

describe('the streams that a server remembers', () => {
  it('are forgotten beyond their number though an older one is read all the time', () => {
    const server = new Server({ closedStreams: 2 });
    write(server.open({ target: '/read' }), ...range(1, 5));
    for (const name of range(1, 9)) {
      const connection = server.open({ target: `/closed/${name}` });
      write(connection, ...range(1, 5));
      connection.end('eof', 1);
    }
    for (const target of ['/closed/1', '/closed/9', '/read']) {
      write(server.resume('3', { target }), '4', '5');
    }
    const classes = server.reports.map(({ verdict }) => verdict?.classification);
    expect(classes).toEqual(['unverifiable', 'resumed', 'resumed']);
  });
});
