import { once } from 'node:events';
import { request } from 'node:http';
import type { Context, TextMapPropagator } from '@opentelemetry/api';
import { context, createContextKey, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Taps, WsPeer } from '../../test/harness.ts';
import {
  connectionTo,
  exchanges,
  rawPeer,
  startTaps,
  WS,
  WS7,
  WS8,
  wsPeer,
} from '../../test/harness.ts';

let taps: Taps;
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  taps = startTaps();
});
afterEach(async () => {
  taps.stop();
  for (const peer of open.splice(0)) await peer.close();
  expect(taps.server.recorder.errors).toEqual([]);
});

async function peer(...args: Parameters<typeof wsPeer>): Promise<WsPeer> {
  const made = await wsPeer(...args);
  open.push(made);
  return made;
}

describe.each(WS)('a WebSocket that $name accepts', (library) => {
  test('is told from its handshake to its close code, with every message in its order', async () => {
    const { url } = await peer(
      (socket) => {
        socket.send('greeting');
        socket.on('message', (data) => socket.send(`got ${data}`));
      },
      { library },
    );
    const socket = new WS8.WebSocket(`${url}/feed?since=41&token=secret`, ['v1'], {
      headers: { 'X-Since': '41' },
    });
    socket.on('open', () => socket.send('subscribe'));
    await once(socket, 'message');
    await once(socket, 'message');
    socket.close(4002, 'enough');
    await taps.server.timeline.untilOver(1);
    const connection = connectionTo(taps.server, '/feed?since=41&token=secret');
    expect(connection.request).toMatchObject({ transport: 'websocket', method: 'GET', origin: '' });
    expect(connection.request.header('x-since')).toBe('41');
    expect(connection.request.header('sec-websocket-protocol')).toBe('v1');
    expect(connection.responseHeader('sec-websocket-protocol')).toBe('v1');
    expect(connection.steps).toEqual(['open', 'response 101', 'end close:4002']);
    expect(exchanges(connection)).toEqual([
      'sent:greeting',
      'received:subscribe',
      'sent:got subscribe',
    ]);
    expect(taps.server.recorder.starts.get(connection)?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 101,
      'url.path': '/feed',
    });
  });

  test('has the headers that the application added to the answer', async () => {
    const { url, wss } = await peer((socket) => socket.close(1000), { library });
    wss.on('headers', (headers) => headers.push('X-Epoch: e7', 'X-Epoch: e8'));
    await once(new WS8.WebSocket(url), 'close');
    await taps.server.timeline.untilOver(1);
    expect(connectionTo(taps.server, '/').responseHeader('x-epoch')).toBe('e7, e8');
  });

  test('ends with 1006 when its client breaks off, and when it is terminated here', async () => {
    const { url } = await peer(
      (socket, path) => {
        if (path === '/here') socket.terminate();
      },
      { library },
    );
    const there = new WS8.WebSocket(`${url}/there`);
    await once(there, 'open');
    there.terminate();
    await once(new WS8.WebSocket(`${url}/here`), 'close');
    await taps.server.timeline.untilOver(2);
    for (const path of ['/there', '/here']) {
      expect(connectionTo(taps.server, path).steps.at(-1)).toBe('end close:1006');
    }
  });

  test('is told fragments as one message, compressed ones as they were given', async () => {
    const text = 'again and '.repeat(200);
    const { url } = await peer(
      (socket) => {
        socket.send('one ', { fin: false });
        socket.send(Buffer.from('two'), { fin: true });
        socket.send(text);
        socket.send(Buffer.from([1, 2, 3]));
        socket.on('message', () => socket.close(1000));
      },
      { library, perMessageDeflate: { threshold: 0 } },
    );
    for (const perMessageDeflate of [true, false]) {
      const socket = new WS8.WebSocket(`${url}/${perMessageDeflate}`, { perMessageDeflate });
      socket.on('open', () => {
        socket.send('three ', { fin: false });
        socket.send('four', { fin: true });
      });
      await once(socket, 'close');
    }
    await taps.server.timeline.untilOver(2);
    for (const path of ['/true', '/false']) {
      expect(exchanges(connectionTo(taps.server, path)).sort()).toEqual(
        ['received:three four', 'sent:010203', 'sent:one two', `sent:${text}`].sort(),
      );
    }
  });

  test.each([
    ['a string', 'é', 'sent:é'],
    ['a long string', 'é'.repeat(40_000), `sent:${'é'.repeat(40_000)}`],
    ['a Buffer', Buffer.from('é'), 'sent:c3a9'],
    ['a Uint16Array', Uint16Array.of(0x0102), 'sent:0201'],
    ['an ArrayBuffer', Uint8Array.of(9).buffer, 'sent:09'],
    ['a number', 5, 'sent:5'],
    ['an empty string', '', 'sent:'],
    ['bytes as text', [Buffer.from('text'), { binary: false }], 'sent:text'],
    ['text as bytes', ['text', { binary: true }], 'sent:74657874'],
  ] as const)('that sends %s is told what goes out', async (_kind, data, told) => {
    for (const perMessageDeflate of [false, true]) {
      const { url } = await peer(
        (socket) => {
          const [content, options] = Array.isArray(data) ? data : [data, {}];
          socket.send(content, options, () => socket.close(1000));
        },
        { library, perMessageDeflate },
      );
      await once(new WS8.WebSocket(`${url}/${perMessageDeflate}`), 'close');
    }
    await taps.server.timeline.untilOver(2);
    for (const path of ['/true', '/false']) {
      expect(exchanges(connectionTo(taps.server, path))).toEqual([told]);
    }
  });

  test('is told frames that were encoded once for many and handed to the sender', async () => {
    const { WebSocket } = library as unknown as {
      WebSocket: { Sender: { frame(data: Buffer, options: object): Buffer[] } };
    };
    const { url } = await peer(
      (socket) => {
        const how = { fin: true, rsv1: false, opcode: 1, mask: false, readOnly: false };
        const frame = WebSocket.Sender.frame(Buffer.from('for all'), how);
        const inside = socket as unknown as { _sender: { sendFrame(list: Buffer[]): void } };
        inside._sender.sendFrame(frame);
        socket.ping();
        socket.close(1000);
      },
      { library, perMessageDeflate: false },
    );
    await once(new WS8.WebSocket(url), 'close');
    await taps.server.timeline.untilOver(1);
    expect(exchanges(connectionTo(taps.server, '/'))).toEqual(['sent:for all']);
  });

  test('is followed when the application hands the upgrade over itself', async () => {
    const { http, url } = await peer(() => {}, { library });
    http.removeAllListeners('upgrade');
    const wss = new library.WebSocketServer({ noServer: true });
    http.on('upgrade', (message, socket, head) => {
      setImmediate(() => {
        wss.handleUpgrade(message, socket, head, (accepted) => accepted.close(4003));
      });
    });
    await once(new WS8.WebSocket(url), 'close');
    await taps.server.timeline.untilOver(1);
    expect(connectionTo(taps.server, '/').steps).toEqual([
      'open',
      'response 101',
      'end close:4003',
    ]);
  });

  test('is followed on a server that is none of node:http', async () => {
    const { http, url } = await peer(() => {}, { library });
    const wss = new library.WebSocketServer({ noServer: true });
    const emit = http.emit.bind(http);
    // As if the request had come from somewhere else.
    Object.defineProperty(http, 'emit', {
      value: (event: string, ...args: unknown[]) => {
        if (event !== 'upgrade') return emit(event, ...args);
        const [message, socket, head] = args as Parameters<typeof wss.handleUpgrade>;
        wss.handleUpgrade(message, socket, head, (accepted) => accepted.close(4003));
        return true;
      },
    });
    await once(new WS8.WebSocket(url), 'close');
    await taps.server.timeline.untilOver(1);
    expect(connectionTo(taps.server, '/').steps.at(-1)).toBe('end close:4003');
  });

  test.each([
    ['verifyClient', 401, { verifyClient: () => false }],
    [
      'an asynchronous verifyClient',
      409,
      {
        verifyClient: (_info: unknown, answer: (ok: boolean, code: number) => void) => {
          setImmediate(() => answer(false, 409));
        },
      },
    ],
    ['its path', 400, { path: '/elsewhere' }],
  ] as const)('refused by %s is told with that status', async (_how, status, options) => {
    const { url } = await peer(() => {}, { library, ...options });
    const socket = new WS8.WebSocket(`${url}/feed?token=secret`);
    await once(socket, 'error');
    const { timeline, recorder } = taps.server;
    await timeline.until(() => timeline.connections.length === 1);
    const connection = connectionTo(taps.server, '/feed?token=secret');
    expect(connection.steps).toEqual(['open', `response ${status}`]);
    expect(recorder.noStreams).toContain(connection);
    expect(recorder.starts.get(connection)?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': status,
      'url.path': '/feed',
    });
  });

  test('is ended as aborted when the tap is taken away, and goes on as before', async () => {
    const { url } = await peer(
      (socket) => {
        socket.on('message', (data) => socket.send(String(data)));
      },
      { library },
    );
    const socket = new WS8.WebSocket(url);
    await once(socket, 'open');
    await taps.server.timeline.until(() => taps.server.timeline.connections.length === 1);
    taps.stop();
    expect(connectionTo(taps.server, '/').steps.at(-1)).toBe('end aborted');
    socket.send('still there');
    const [data] = await once(socket, 'message');
    expect(String(data)).toBe('still there');
    expect(exchanges(connectionTo(taps.server, '/'))).toEqual([]);
  });

  test('is counted, and nothing of it read, where nobody needs to read it', async () => {
    taps.server.timeline.reads = 'nothing';
    const { url } = await peer(
      (socket) => {
        socket.send('long enough to tell');
        socket.send(Buffer.from('as bytes'));
        socket.on('message', () => socket.close(1000));
      },
      { library },
    );
    const socket = new WS8.WebSocket(url);
    socket.on('open', () => socket.send('unread'));
    await once(socket, 'close');
    await taps.server.timeline.untilOver(1);
    expect(exchanges(connectionTo(taps.server, '/'))).toEqual(['sent:', 'sent:']);
  });
});

test('an upgrade that the application refuses on its own is told with its status', async () => {
  const made = await rawPeer((socket, path) => {
    // In two pieces, as text and as bytes.
    socket.write(path === '/text' ? 'HTTP/1.1 503 Bu' : Buffer.from('HTTP/1.1 503 Bu'));
    socket.end('sy\r\nRetry-After: 7\r\nConnection: close\r\n\r\nlater');
  });
  open.push(made);
  for (const path of ['/text', '/bytes']) {
    await once(new WS8.WebSocket(made.url + path), 'error');
    const connection = connectionTo(taps.server, path);
    expect(connection.steps).toEqual(['open', 'response 503']);
    expect(connection.responseHeader('retry-after')).toBe('7');
  }
});

test('nothing is told of an upgrade that is dropped without an answer', async () => {
  const made = await rawPeer((socket) => socket.destroy());
  open.push(made);
  await once(new WS8.WebSocket(made.url), 'error');
  expect(taps.server.timeline.connections).toEqual([]);
});

test('nothing is told of a protocol that is changed by others, a proxy for one', async () => {
  const made = await rawPeer((socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n');
  });
  open.push(made);
  await once(new WS8.WebSocket(made.url), 'error');
  expect(taps.server.timeline.connections).toEqual([]);
});

test('nothing is told of a request for another protocol', async () => {
  const made = await rawPeer((socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n'));
  open.push(made);
  const headers = { connection: 'upgrade', upgrade: 'h2c' };
  const asked = request(made.url.replace('ws', 'http'), { headers }).end();
  const [response] = await once(asked, 'response');
  response.resume();
  expect(taps.server.timeline.connections).toEqual([]);
});

test('nothing is told of a handshake that the application wants ignored', async () => {
  taps.server.ignored.add('/ignored');
  const { url } = await peer((socket) => socket.close(1000));
  await once(new WS8.WebSocket(`${url}/ignored`), 'close');
  await once(new WS8.WebSocket(`${url}/told`), 'close');
  await taps.server.timeline.untilOver(1);
  expect(taps.server.timeline.connections.map(({ request: { target } }) => target)).toEqual([
    '/told',
  ]);
});

test('R16: its timer runs until the verdict, and is gone with the connection', async () => {
  taps.server.timeline.settles = false;
  const { url } = await peer(() => {});
  const socket = new WS8.WebSocket(url);
  await once(socket, 'open');
  expect(taps.server.timers.size).toBe(1);
  taps.server.elapse();
  expect(connectionTo(taps.server, '/').steps).toEqual(['open', 'response 101', 'timeout']);
  const another = new WS8.WebSocket(url);
  await once(another, 'open');
  expect(taps.server.timers.size).toBe(1);
  another.close();
  await taps.server.timeline.untilOver(1);
  expect(taps.server.timers.size).toBe(0);
  socket.close();
});

test('R16: its timer is gone as soon as a message has settled the verdict', async () => {
  const { url } = await peer((socket) => socket.on('message', () => socket.send('decides')));
  const socket = new WS8.WebSocket(url);
  await once(socket, 'open');
  expect(taps.server.timers.size).toBe(1);
  socket.send('go');
  await once(socket, 'message');
  expect(taps.server.timers.size).toBe(0);
  socket.close();
});

test('both versions of ws are followed in one process', async () => {
  const first = await peer((socket) => socket.close(4007), { library: WS7 });
  const second = await peer((socket) => socket.close(4008), { library: WS8 });
  await once(new WS8.WebSocket(`${first.url}/7`), 'close');
  await once(new WS7.WebSocket(`${second.url}/8`), 'close');
  await taps.server.timeline.untilOver(2);
  expect(connectionTo(taps.server, '/7').steps.at(-1)).toBe('end close:4007');
  expect(connectionTo(taps.server, '/8').steps.at(-1)).toBe('end close:4008');
});

describe('the context of a connection', () => {
  beforeEach(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator() as TextMapPropagator);
  });
  afterEach(() => {
    context.disable();
    propagation.disable();
  });

  const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };

  test('is the one that its client sent along, for nobody else reads it from an upgrade', async () => {
    const { url } = await peer((socket) => socket.close(1000));
    await once(new WS8.WebSocket(url, { headers }), 'close');
    await taps.server.timeline.untilOver(1);
    const start = taps.server.recorder.starts.get(connectionTo(taps.server, '/'));
    expect(trace.getSpanContext(start?.context as Context)?.traceId).toBe(TRACE_ID);
  });

  test('is the active one where a span of the request is active', async () => {
    const key = createContextKey('span of the request');
    const { http, url } = await peer((socket) => socket.close(1000));
    const emit = http.emit.bind(http);
    const span = trace.wrapSpanContext({
      traceId: '1'.repeat(32),
      spanId: '2'.repeat(16),
      traceFlags: 1,
    });
    Object.defineProperty(http, 'emit', {
      value: (event: string, ...args: unknown[]) =>
        context.with(trace.setSpan(ROOT_CONTEXT.setValue(key, 'here'), span), () =>
          emit(event, ...args),
        ),
    });
    await once(new WS8.WebSocket(url, { headers }), 'close');
    await taps.server.timeline.untilOver(1);
    const start = taps.server.recorder.starts.get(connectionTo(taps.server, '/'));
    expect(start?.context.getValue(key)).toBe('here');
  });

  test('does not reach the application', async () => {
    const seen: unknown[] = [];
    const { url } = await peer((socket) => {
      seen.push(trace.getSpanContext(context.active()));
      socket.close(1000);
    });
    await once(new WS8.WebSocket(url, { headers }), 'close');
    expect(seen).toEqual([undefined]);
  });
});
