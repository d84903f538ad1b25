import { afterEach, describe, expect, test } from 'vitest';
import type { StreamConnection, StreamRequest, StreamTimeline, Transport } from './connection.ts';
import type { BinaryDecoder } from './messages.ts';
import type { Profile } from './profile/profile.ts';
import type { JoinedTimeline, TimelineMember } from './shared-timeline.ts';
import { joinTimeline } from './shared-timeline.ts';

const session: Profile = {
  name: 'session',
  match: { path: '^/session/' },
  key: '^/session/([^/]+)/',
  messages: 'json',
  cursor: { received: ['sse:id', 'json:/id'], codec: 'int' },
};

const joined: JoinedTimeline[] = [];
afterEach(() => {
  for (const { leave } of joined.splice(0)) leave();
});

interface Member extends JoinedTimeline {
  /** What its observer heard: of which transport, and the verdict's reason or the end. */
  readonly heard: string[];
}

function join(transport: Transport, options: Partial<TimelineMember> = {}): Member {
  const heard: string[] = [];
  const member = joinTimeline('client', {
    profiles: [session],
    ...options,
    transport,
    observer: {
      settled: (at, { verdict }) => heard.push(`${at.transport} ${verdict?.reason ?? 'up'}`),
      revised: () => {},
      inStream: () => {},
      ended: (at, end) => heard.push(`${at.transport} ${end}`),
    },
  });
  joined.push(member);
  return { ...member, heard };
}

function open(timeline: StreamTimeline, transport: Transport, target: string): StreamConnection {
  const request: StreamRequest = {
    transport,
    method: 'GET',
    origin: 'http://a.test',
    target,
    header: () => undefined,
  };
  const connection = timeline.open(request, 0);
  const type = transport === 'sse' ? 'text/event-stream' : undefined;
  connection.response(transport === 'sse' ? 200 : 101, () => type);
  return connection;
}

/** An SSE feed that is read up to 5 and dropped, then a WebSocket that goes on with 3. */
function move(sse: StreamTimeline, websocket: StreamTimeline): void {
  const feed = open(sse, 'sse', '/session/7/events');
  feed.pushString('id: 5\ndata: x\n\n');
  feed.end('reset', 0);
  open(websocket, 'websocket', '/session/7/ws').message('{"id":3}');
}

test('M1: a stream that leaves SSE is found by whoever sees the WebSocket', () => {
  const [sse, websocket] = [join('sse'), join('websocket')];
  move(sse.timeline, websocket.timeline);
  expect(websocket.heard).toEqual(['websocket cursor_not_advanced']);
});

test('each hears of the connections of its own transport, and of no other', () => {
  const [sse, websocket] = [join('sse'), join('websocket')];
  move(sse.timeline, websocket.timeline);
  expect(sse.heard).toEqual(['sse up', 'sse reset']);
});

describe('timelines stay apart', () => {
  test.each<[string, Partial<TimelineMember>]>([
    ['with other profiles', { profiles: [{ ...session, name: 'other' }] }],
    ['with another identity', { identity: 'id' }],
    ['with another window', { reconnectWindow: 1 }],
    ['with another key', { streamKey: () => undefined }],
    ['with another history', { history: 100 }],
    ['with another memory', { closedStreams: 1 }],
  ])('%s', (_title, options) => {
    expect(join('websocket', options).timeline).not.toBe(join('sse').timeline);
  });

  test('for the two roles', () => {
    const { observer } = silent;
    const server = joinTimeline('server', {
      profiles: [session],
      transport: 'websocket',
      observer,
    });
    joined.push(server);
    expect(server.timeline).not.toBe(join('sse').timeline);
  });

  test('for a second instrumentation of one transport', () => {
    const first = join('sse');
    const second = join('sse');
    expect(second.timeline).not.toBe(first.timeline);
    expect(join('websocket').timeline).toBe(first.timeline);
    expect(join('websocket').timeline).toBe(second.timeline);
  });
});

test('who has left hears nothing more, and the others go on', () => {
  const [sse, websocket] = [join('sse'), join('websocket')];
  const feed = open(sse.timeline, 'sse', '/session/7/events');
  feed.pushString('id: 5\ndata: x\n\n');
  sse.leave();
  feed.end('aborted', 0);
  expect(sse.heard).toEqual(['sse up']);
  expect(join('sse').timeline).toBe(websocket.timeline);
});

test('what was read before the last has left is forgotten', () => {
  const before = join('sse');
  before.leave();
  before.leave();
  expect(join('websocket').timeline).not.toBe(before.timeline);
});

test('a member that left twice does not take its successor away', () => {
  const [first, websocket] = [join('sse'), join('websocket')];
  first.leave();
  const second = join('sse');
  first.leave();
  move(second.timeline, websocket.timeline);
  expect(second.heard).toEqual(['sse up', 'sse reset']);
});

test('binary messages are read by the decoder of whoever brings WebSockets, also when it comes late', () => {
  const binary: Profile = { ...session, messages: 'msgpack' };
  const decodeBinary: BinaryDecoder = (_format, [id]) => [{ id }];
  const sse = join('sse', { profiles: [binary] });
  const websocket = join('websocket', { profiles: [binary], decodeBinary });
  const feed = open(sse.timeline, 'sse', '/session/7/events');
  feed.pushString('id: 5\ndata: x\n\n');
  feed.end('reset', 0);
  open(websocket.timeline, 'websocket', '/session/7/ws').message(Uint8Array.of(3));
  expect(websocket.heard).toEqual(['websocket cursor_not_advanced']);
});

const silent: Pick<TimelineMember, 'observer'> = {
  observer: { settled: () => {}, revised: () => {}, inStream: () => {}, ended: () => {} },
};
