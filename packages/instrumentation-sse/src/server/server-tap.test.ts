import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import http from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import http2 from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import net from 'node:net';
import { createGzip } from 'node:zlib';
import type { HeaderLookup } from '@sameriver/core';
import { claim } from '@sameriver/core';
import type { StopTap } from '@sameriver/telemetry';
import type { Loopback } from '@sameriver/testkit';
import { loopback, RecordingHost } from '@sameriver/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startServerTap } from './server-tap.ts';

const SSE = { 'content-type': 'text/event-stream' };
const EVENT = 'id: 1\ndata: a\n\n';

let host: RecordingHost;
let stop: StopTap;
let server: Loopback | undefined;
let server2: http2.Http2Server | undefined;
let session: http2.ClientHttp2Session | undefined;

beforeEach(() => {
  host = new RecordingHost('server');
  stop = startServerTap(host);
});

afterEach(async () => {
  stop();
  await server?.close();
  server = undefined;
  session?.destroy();
  server2?.close();
  server2 = undefined;
});

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
}

/** Asks once over a connection of its own; the body is left to the caller. */
async function ask(asked: Asked = {}): Promise<IncomingMessage> {
  const request = http.request(`${server?.origin}${asked.path ?? '/'}`, {
    method: asked.method ?? 'GET',
    headers: asked.headers ?? {},
    agent: false,
  });
  request.on('error', () => {});
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

async function serve(handler: RequestListener): Promise<void> {
  server = await loopback(handler);
}

/** Asks an HTTP/2 server; `handler` gets its side of the stream. */
async function serve2(
  handler: (stream: ServerHttp2Stream) => void,
  headers: http2.OutgoingHttpHeaders = {},
): Promise<http2.ClientHttp2Stream> {
  server2 = http2.createServer();
  server2.on('stream', (stream) => {
    stream.on('error', () => {});
    handler(stream);
  });
  server2.listen(0, '127.0.0.1');
  await once(server2, 'listening');
  session = http2.connect(`http://127.0.0.1:${(server2.address() as AddressInfo).port}`);
  const stream = session.request({ ':path': '/', ...headers });
  stream.on('error', () => {});
  return stream;
}

const only = () => {
  const { connections } = host.timeline;
  expect(connections).toHaveLength(1);
  return connections[0] as NonNullable<(typeof connections)[0]>;
};

/** Looks names up while the response is reported, the one time when that is allowed. */
function lookUp(...names: string[]): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  const open = host.timeline.open.bind(host.timeline);
  host.timeline.open = (request, at) => {
    const connection = open(request, at);
    const response = connection.response.bind(connection);
    connection.response = (status: number, header: HeaderLookup) => {
      for (const name of names) found.set(name, header(name));
      return response(status, header);
    };
    return connection;
  };
  return found;
}

describe('which responses are followed', () => {
  test('an event stream, whoever asked for it', async () => {
    await serve((_, res) => res.writeHead(200, SSE).end(EVENT));
    await (await ask({ method: 'POST' })).toArray();
    expect(only().steps).toEqual(['open', 'response 200', 'end eof']);
    expect(only().request.method).toBe('POST');
  });

  test.each(['Text/Event-Stream', 'text/event-stream;charset=utf-8', ' text/event-stream '])(
    'the media type is compared as media types are: %j',
    async (type) => {
      await serve((_, res) => res.writeHead(200, { 'content-type': type }).end(EVENT));
      await (await ask()).toArray();
      expect(only().steps.slice(0, 2)).toEqual(['open', 'response 200']);
    },
  );

  test.each(['application/json', 'text/event-stream-like', 'text/plain; x="text/event-stream"'])(
    'nothing is opened for %s',
    async (type) => {
      const headers = { 'content-type': type, 'x-note': 'content-type: text/event-stream' };
      await serve((_, res) => res.writeHead(200, headers).end('{}'));
      await (await ask({ headers: { accept: 'text/event-stream' } })).toArray();
      expect(host.timeline.connections).toEqual([]);
    },
  );

  test.each([410, 204, 409, 503, 200])(
    'V1: a wanted request is reported with its answer %i, and no body is followed',
    async (status) => {
      host.timeline.wanted = (request) => request.header('last-event-id') === '41';
      await serve((_, res) => res.writeHead(status).end(status === 204 ? undefined : 'gone'));
      await (await ask({ headers: { 'last-event-id': '41' } })).toArray();
      expect(only().steps).toEqual(['open', `response ${status}`]);
      expect(only().bytes).toHaveLength(0);
      expect([...host.recorder.noStreams]).toEqual([only()]);
    },
  );

  test('V1: the same over HTTP/2, also where the head is implicit', async () => {
    host.timeline.wanted = () => true;
    const stream = await serve2((it) => it.end('no head of its own'), { 'last-event-id': '41' });
    await stream.toArray();
    expect(only().steps).toEqual(['open', 'response 200']);
  });

  test('a request that the application ignores is left alone', async () => {
    host.ignored.add('/internal?x=1');
    await serve((_, res) => res.writeHead(200, SSE).end(EVENT));
    await (await ask({ path: '/internal?x=1' })).toArray();
    expect(host.timeline.connections).toEqual([]);
  });

  test('a response that a more specific instrumentation has claimed is left to it', async () => {
    await serve((_, res) => {
      claim(res, 'mcp', 10);
      res.writeHead(200, SSE).end(EVENT);
    });
    await (await ask()).toArray();
    expect(host.timeline.connections).toEqual([]);
  });

  test('two taps in one process do not count a response twice', async () => {
    const second = new RecordingHost('server');
    const stopSecond = startServerTap(second);
    await serve((_, res) => res.writeHead(200, SSE).end(EVENT));
    await (await ask()).toArray();
    stopSecond();
    expect([...host.timeline.connections, ...second.timeline.connections]).toHaveLength(1);
    expect(only().text).toBe(EVENT);
  });

  test('a body for an HTTP/1.0 client is followed too', async () => {
    await serve((_, res) => {
      res.writeHead(200, SSE);
      res.write(EVENT);
      res.end(EVENT);
    });
    const socket = net.connect(Number(new URL(server?.origin ?? '').port), '127.0.0.1');
    socket.write('GET / HTTP/1.0\r\n\r\n');
    const answer = Buffer.concat(await socket.toArray()).toString();
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(EVENT + EVENT);
    expect(only().text).toBe(EVENT + EVENT);
  });

  test('a pipelined response is followed only if its turn has come', async () => {
    await serve((_, res) => {
      res.writeHead(200, SSE);
      setImmediate(() => res.end(EVENT));
    });
    const socket = net.connect(Number(new URL(server?.origin ?? '').port), '127.0.0.1');
    const last = 'GET /second HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    socket.write(`GET /first HTTP/1.1\r\nhost: a\r\n\r\n${last}`);
    const answers = Buffer.concat(await socket.toArray()).toString();
    expect(answers.split('data: a')).toHaveLength(3);
    expect(only().request.target).toBe('/first');
    expect(only().steps.at(-1)).toBe('end eof');
  });
});

describe('what is said of the request', () => {
  test('method, raw target and headers, also after a router has rewritten the URL', async () => {
    let header: HeaderLookup | undefined;
    const open = host.timeline.open.bind(host.timeline);
    host.timeline.open = (request, at) => {
      header = request.header;
      return open(request, at);
    };
    await serve((req, res) => {
      req.url = '/rewritten';
      res.writeHead(200, SSE).end(EVENT);
    });
    const headers = { accept: 'text/event-stream', 'Last-Event-ID': '41', 'x-many': ['a', 'b'] };
    await (await ask({ path: '/mount/feed?since=41', headers })).toArray();
    expect(only().request).toMatchObject({
      transport: 'sse',
      method: 'GET',
      origin: '',
      target: '/mount/feed?since=41',
    });
    expect(['last-event-id', 'x-many', 'x-none'].map((name) => header?.(name))).toEqual([
      '41',
      'a, b',
      undefined,
    ]);
  });

  test('the same over HTTP/2, from its pseudo headers', async () => {
    const stream = await serve2(
      (it) => {
        it.respond({ ':status': 200, 'Content-Type': 'text/event-stream' });
        it.end(EVENT);
      },
      { ':method': 'POST', ':path': '/feed?since=41', 'last-event-id': '41' },
    );
    stream.end();
    await stream.toArray();
    expect(only().request).toMatchObject({ method: 'POST', target: '/feed?since=41' });
    expect(only().resumeRequested).toBe(true);
    expect(only().text).toBe(EVENT);
  });

  test('the connection is as old as its request, where that asked for a stream', async () => {
    await serve((_, res) => {
      host.clock += 250;
      res.writeHead(200, SSE).end(EVENT);
    });
    const before = Date.now();
    await (await ask({ headers: { accept: 'text/event-stream' } })).toArray();
    expect(only().openedAt).toBe(1000);
    const { startTime } = host.recorder.starts.get(only()) ?? {};
    expect(startTime).toBeLessThanOrEqual(Date.now() - 250);
    expect(startTime).toBeGreaterThanOrEqual(before - 250);
    await (await ask()).toArray();
    expect(host.timeline.connections[1]?.openedAt).toBe(1500);
  });
});

describe('what is said of the head', () => {
  const set: [string, (res: ServerResponse) => void][] = [
    ['setHeader', (res) => res.setHeader('X-A', '1').writeHead(200, SSE)],
    ['an object', (res) => res.writeHead(200, { ...SSE, 'X-A': '1' })],
    [
      'a flat array',
      (res) => res.writeHead(200, ['content-type', SSE['content-type'], 'X-A', '1']),
    ],
    [
      'nested arrays',
      (res) =>
        res.writeHead(200, [
          ['content-type', SSE['content-type']],
          ['X-A', '1'],
        ] as never),
    ],
    ['a status message', (res) => res.writeHead(200, 'Fine: really', { ...SSE, 'X-A': '1' })],
  ];

  test.each(set)('headers given by %s are found', async (_, head) => {
    const found = lookUp('x-a', 'content-type', 'x-none');
    await serve((__, res) => {
      head(res);
      res.end(EVENT);
    });
    await (await ask()).toArray();
    expect([...found.values()]).toEqual(['1', 'text/event-stream', undefined]);
  });

  test('repeated headers are joined, and a value keeps its colons', async () => {
    const found = lookUp('x-many', 'x-time');
    await serve((_, res) => {
      res.setHeader('x-many', ['a', 'b']);
      res.writeHead(200, { ...SSE, 'x-time': '10:30:00' }).end(EVENT);
    });
    await (await ask()).toArray();
    expect([...found.values()]).toEqual(['a, b', '10:30:00']);
  });

  test.runIf('writeHeader' in http.ServerResponse.prototype)(
    'writeHeader, the old name of writeHead, is the same to us',
    async () => {
      await serve((_, res) => {
        (res as ServerResponse & { writeHeader: ServerResponse['writeHead'] }).writeHeader(
          200,
          SSE,
        );
        res.end(EVENT);
      });
      await (await ask()).toArray();
      expect(only().text).toBe(EVENT);
    },
  );

  test('a middleware that still changes the head inside writeHead is seen through', async () => {
    const found = lookUp('x-a');
    await serve((_, res) => {
      const writeHead = res.writeHead;
      res.writeHead = function late(this: ServerResponse, ...args: unknown[]) {
        this.setHeader('x-a', 'late');
        return Reflect.apply(writeHead, this, args);
      } as typeof writeHead;
      res.setHeader('content-type', 'text/event-stream');
      res.end(EVENT);
    });
    await (await ask()).toArray();
    expect(found.get('x-a')).toBe('late');
    expect(only().text).toBe(EVENT);
  });
});

test('an HTTP/2 stream may have a default encoding of its own', async () => {
  const client = await serve2((stream) => {
    stream.respond({ ':status': 200, ...SSE });
    stream.setDefaultEncoding('latin1');
    stream.write('data: h\u00e9\n\n', () => {});
    stream.end('data: h\u00e9\n\n', 'utf8');
  });
  const received = Buffer.concat(await client.toArray());
  expect(received).toContain(0xe9);
  expect(only().bytes).toEqual(received);
});

describe('how a connection ends', () => {
  /** Opens a stream, writes one event and hands the response over once the client has read it. */
  async function flowing(): Promise<[ServerResponse, IncomingMessage]> {
    let opened: ServerResponse | undefined;
    await serve((_, res) => {
      opened = res;
      res.on('error', () => {});
      res.writeHead(200, SSE).write(EVENT);
    });
    const response = await ask();
    await once(response, 'data');
    return [opened as ServerResponse, response];
  }

  async function flowing2(): Promise<[ServerHttp2Stream, http2.ClientHttp2Stream]> {
    let opened: ServerHttp2Stream | undefined;
    const client = await serve2((stream) => {
      opened = stream;
      stream.respond({ ':status': 200, ...SSE });
      stream.write(EVENT);
    });
    await once(client, 'data');
    return [opened as ServerHttp2Stream, client];
  }

  test('eof when the application ends the response, at the time of that call', async () => {
    const [res] = await flowing();
    host.clock = 5000;
    res.end();
    expect(only().steps.at(-1)).toBe('end eof');
    expect(only().endedAt).toBe(5000);
  });

  const lost: [string, (res: ServerResponse, client: IncomingMessage) => void][] = [
    ['the client goes away', (_, client) => client.destroy()],
    ['the application destroys the response', (res) => res.destroy()],
    ['the application destroys the socket', (res) => res.socket?.destroy()],
    ['the application destroys the request', (res) => res.req.destroy()],
  ];

  test.each(lost)('reset when %s', async (_, leave) => {
    const [res, client] = await flowing();
    leave(res, client);
    await host.timeline.untilOver(1);
    expect(only().steps.at(-1)).toBe('end reset');
  });

  const lost2: [string, (stream: ServerHttp2Stream, client: http2.ClientHttp2Stream) => void][] = [
    ['the client cancels', (_, client) => client.close(http2.constants.NGHTTP2_CANCEL)],
    ['the client leaves without an error code', (_, client) => client.close()],
    ['the client session goes away', (_, client) => client.session?.destroy()],
    ['the application closes it early', (stream) => stream.close(http2.constants.NGHTTP2_CANCEL)],
    ['the application destroys it', (stream) => stream.destroy()],
  ];

  test.each(lost2)('an HTTP/2 stream is reset when %s', async (_, leave) => {
    const [stream, client] = await flowing2();
    leave(stream, client);
    await host.timeline.untilOver(1);
    expect(only().steps.at(-1)).toBe('end reset');
  });

  test('eof when an HTTP/2 stream is ended together with its head', async () => {
    const client = await serve2((stream) => {
      stream.respond({ ':status': 200, ...SSE }, { endStream: true });
    });
    await client.toArray();
    expect(only().steps).toEqual(['open', 'response 200', 'end eof']);
  });

  test('idle_timeout when the socket times out and nobody objects', async () => {
    const [res] = await flowing();
    res.socket?.emit('timeout');
    await host.timeline.untilOver(1);
    expect(only().steps.at(-1)).toBe('end idle_timeout');
  });

  test('reset when the stream went on after a timeout was announced', async () => {
    const [res, client] = await flowing();
    res.on('timeout', () => {});
    res.socket?.emit('timeout');
    res.write(EVENT);
    client.destroy();
    await host.timeline.untilOver(1);
    expect(only().steps.at(-1)).toBe('end reset');
  });

  test('idle_timeout when the application closes an HTTP/2 stream over its timeout', async () => {
    const [stream] = await flowing2();
    stream.once('timeout', () => stream.close(http2.constants.NGHTTP2_CANCEL));
    stream.emit('timeout');
    await host.timeline.untilOver(1);
    expect(only().steps.at(-1)).toBe('end idle_timeout');
  });

  test('what is written after the client has left counts for nothing', async () => {
    const [res, client] = await flowing();
    client.destroy();
    await once(res, 'close');
    expect([res.write(EVENT), res.writableEnded]).toEqual([false, false]);
    res.end(EVENT);
    expect(only().text).toBe(EVENT);
    expect(only().steps).toEqual(['open', 'response 200', 'end reset']);
  });

  test('what is written between the loss of the socket and its close counts for nothing', async () => {
    const [res] = await flowing();
    res.socket?.destroy();
    res.write(EVENT);
    res.end(EVENT);
    await host.timeline.untilOver(1);
    expect(only().text).toBe(EVENT);
    expect(only().steps.at(-1)).toBe('end reset');
  });

  test('a string in an encoding that nobody knows is refused by Node, and not reported', async () => {
    const [res] = await flowing();
    expect(() => res.write(EVENT, 'utf-9' as BufferEncoding)).toThrow(/Unknown encoding/);
    expect(only().text).toBe(EVENT);
    expect(host.recorder.errors).toEqual([]);
  });

  test('the end of a compressed body waits until all of it has been decoded', async () => {
    await serve((_, res) => {
      res.writeHead(200, { ...SSE, 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(res);
      gzip.end(EVENT.repeat(20_000));
    });
    await (await ask()).toArray();
    await host.timeline.untilOver(1);
    expect(only().text).toBe(EVENT.repeat(20_000));
    expect(only().steps.at(-1)).toBe('end eof');
  });

  test('a coding that cannot be read is counted, and the end is still told', async () => {
    await serve((_, res) => res.writeHead(200, { ...SSE, 'content-encoding': 'exi' }).end(EVENT));
    await (await ask()).toArray();
    expect(host.recorder.errors).toEqual(['decoder']);
    expect(only().steps).toEqual(['open', 'response 200', 'end eof']);
    expect(only().text).toBe('');
  });

  test('a body that is not in its coding is counted once, and the end is still told', async () => {
    await serve((_, res) => {
      res.writeHead(200, { ...SSE, 'content-encoding': 'gzip' });
      res.write(EVENT);
      res.end(EVENT);
    });
    await (await ask()).toArray();
    await host.timeline.untilOver(1);
    expect(host.recorder.errors).toEqual(['decoder']);
    expect(only().steps.at(-1)).toBe('end eof');
  });
});

describe('R16: the decision timer', () => {
  test('runs until the verdict is settled', async () => {
    let opened: ServerResponse | undefined;
    await serve((_, res) => {
      opened = res;
      res.writeHead(200, SSE).flushHeaders();
    });
    await ask();
    expect(host.timers.size).toBe(1);
    opened?.write(EVENT);
    expect(host.timers.size).toBe(0);
    expect(only().steps).toEqual(['open', 'response 200']);
  });

  test('tells the connection when it elapses, once', async () => {
    await serve((_, res) => res.writeHead(200, SSE).flushHeaders());
    await ask();
    host.elapse();
    host.elapse();
    expect(only().steps).toEqual(['open', 'response 200', 'timeout']);
  });

  test('ends with the connection', async () => {
    host.timeline.settles = false;
    await serve((_, res) => res.writeHead(200, SSE).end(EVENT));
    await (await ask()).toArray();
    expect(host.timers.size).toBe(0);
  });
});

describe('when the tap stops', () => {
  const METHODS = ['write', 'end', 'emit', 'writeHead', 'writeHeader'] as const;

  function methods(): unknown[] {
    const { prototype } = http.ServerResponse;
    return METHODS.map((name) => Object.getOwnPropertyDescriptor(prototype, name));
  }

  test('the original functions are back, exactly', async () => {
    stop();
    const before = methods();
    stop = startServerTap(host);
    expect(methods()).not.toEqual(before);
    stop();
    expect(methods()).toEqual(before);
    expect(http.ServerResponse.prototype.write).toBe(http.OutgoingMessage.prototype.write);
  });

  test('open connections end as aborted, and what follows reaches only the client', async () => {
    let opened: ServerResponse | undefined;
    await serve((_, res) => {
      opened = res;
      res.writeHead(200, SSE).write(EVENT);
    });
    const response = await ask();
    stop();
    opened?.write(EVENT);
    opened?.end(EVENT);
    expect(Buffer.concat(await response.toArray()).toString()).toBe(EVENT.repeat(3));
    expect(only().steps).toEqual(['open', 'response 200', 'end aborted']);
    expect(only().text).toBe(EVENT);
    const slots = Object.getOwnPropertySymbols(opened).filter(({ description }) =>
      description?.startsWith('sameriver'),
    );
    expect(slots.map((slot) => Reflect.get(opened as object, slot))).toEqual([undefined]);
  });

  test('HTTP/2 streams are let go in the same way', async () => {
    let opened: ServerHttp2Stream | undefined;
    const client = await serve2((stream) => {
      opened = stream;
      stream.respond({ ':status': 200, ...SSE });
      stream.write(EVENT);
    });
    await once(client, 'response');
    stop();
    opened?.end(EVENT);
    expect(Buffer.concat(await client.toArray()).toString()).toBe(EVENT + EVENT);
    expect(only().steps).toEqual(['open', 'response 200', 'end aborted']);
    expect(Object.getOwnPropertyNames(Object.getPrototypeOf(opened))).not.toContain('write');
  });

  test('a head that is written afterwards is not reported', async () => {
    const { prototype } = http.ServerResponse;
    const ours = prototype.writeHead;
    // Somebody keeps a wrapper of ours alive, so that it cannot be taken out.
    prototype.writeHead = function theirs(this: ServerResponse, ...args: unknown[]) {
      return Reflect.apply(ours, this, args);
    } as typeof ours;
    const theirs = prototype.writeHead;
    try {
      stop();
      expect(prototype.writeHead).toBe(theirs);
      await serve((_, res) => res.writeHead(200, SSE).end(EVENT));
      expect(Buffer.concat(await (await ask()).toArray()).toString()).toBe(EVENT);
      expect(host.timeline.connections).toEqual([]);
    } finally {
      delete (prototype as { writeHead?: unknown }).writeHead;
      prototype.writeHead = ours;
    }
  });
});

describe('others who patch', () => {
  type Write = (this: unknown, ...args: unknown[]) => unknown;

  /** Replaces a method of a prototype for the time of one test. */
  async function patched(
    prototype: object,
    name: string,
    wrap: (original: Write) => Write,
    run: () => Promise<void>,
  ): Promise<void> {
    const own = Object.getOwnPropertyDescriptor(prototype, name);
    const original = Reflect.get(prototype, name) as Write;
    Object.defineProperty(prototype, name, {
      value: wrap(original),
      configurable: true,
      writable: true,
      enumerable: true,
    });
    try {
      await run();
    } finally {
      if (own === undefined) Reflect.deleteProperty(prototype, name);
      else Object.defineProperty(prototype, name, own);
    }
  }

  async function streamed(): Promise<string> {
    await serve((_, res) => {
      res.setHeader('content-type', 'text/event-stream');
      res.write(EVENT);
      res.end(EVENT);
    });
    return Buffer.concat(await (await ask()).toArray()).toString();
  }

  test('the parent prototype may be patched after us: both are called', async () => {
    let seen = 0;
    const count = (original: Write): Write =>
      function theirs(this: unknown, ...args) {
        seen += 1;
        return original.apply(this, args);
      };
    await patched(http.OutgoingMessage.prototype, 'write', count, async () => {
      expect(await streamed()).toBe(EVENT + EVENT);
    });
    expect(seen).toBe(1);
    expect(only().text).toBe(EVENT + EVENT);
  });

  test('a method below ours that comes back through ours is not counted twice', async () => {
    stop();
    const writeFromEnd = (original: Write): Write =>
      function theirs(this: unknown, chunk, ...rest) {
        if (typeof chunk === 'string') (this as ServerResponse).write(chunk);
        return original.apply(this, rest);
      };
    await patched(http.ServerResponse.prototype, 'end', writeFromEnd, async () => {
      stop = startServerTap(host);
      expect(await streamed()).toBe(EVENT + EVENT);
      await serve((_, res) => {
        res.setHeader('content-type', 'text/event-stream');
        res.end(EVENT);
      });
      await (await ask()).toArray();
      stop();
    });
    expect(host.timeline.connections.map(({ text }) => text)).toEqual([EVENT + EVENT, EVENT]);
    expect(host.timeline.connections.map(({ steps }) => steps.at(-1))).toEqual([
      'end eof',
      'end eof',
    ]);
  });
});

test('a client that does not read holds the application up, as without us', async () => {
  const CHUNK = `data: ${'x'.repeat(65_536)}\n\n`;
  /** Writes until the response stays full for many turns of the event loop. */
  async function fill(res: ServerResponse): Promise<number> {
    let written = 0;
    for (let turns = 0; turns < 300; turns += 1) {
      while (!res.writableNeedDrain && written < 1000) {
        res.write(CHUNK);
        written += 1;
        turns = 0;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    return written;
  }
  const stalled = async (): Promise<number> => {
    let filled: Promise<number> | undefined;
    await serve((_, res) => {
      res.writeHead(200, SSE);
      filled = fill(res);
    });
    const socket: Socket = net.connect(Number(new URL(server?.origin ?? '').port), '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await once(server?.server as http.Server, 'request');
    const count = (await filled) as number;
    socket.destroy();
    await server?.close();
    return count;
  };
  const withTap = await stalled();
  await host.timeline.untilOver(1);
  stop();
  const without = await stalled();
  expect(withTap).toBeLessThan(1000);
  expect(without).toBeLessThan(1000);
  expect(only().bytes.length).toBe(withTap * CHUNK.length);
});
