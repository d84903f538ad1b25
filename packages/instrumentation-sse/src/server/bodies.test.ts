import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2';
import http2 from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import type { PassThrough } from 'node:stream';
import { pipeline, Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import {
  brotliDecompressSync,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  gunzipSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib';
import { RecordingHost } from '@sameriver/testkit';
import { expect, test } from 'vitest';
import { startServerTap } from './server-tap.ts';

/*
 * Each way of writing a body is run twice, without the tap and with it. The client must see the
 * same bytes and the application the same results, errors, listeners and properties; and what the
 * tap has fed must be what the client has received.
 */

const SSE = { 'content-type': 'text/event-stream' };
const T = 'id: 1\ndata: h\u00e9\u{1F600}\n\n';
const BYTES = Buffer.from(T);

/** What `Http2ServerResponse` and `ServerResponse` have in common, loosely enough for misuse. */
interface Response extends PassThrough {
  statusCode: number;
  writeHead(...args: unknown[]): this;
  setHeader(name: string, value: string): this;
  flushHeaders(): void;
  addTrailers(fields: Record<string, string>): void;
}

interface Scene {
  readonly req: IncomingMessage | Http2ServerRequest;
  readonly res: Response;
  /** Every object whose listeners an application could count. */
  readonly emitters: readonly NodeJS.EventEmitter[];
  readonly log: unknown[];
  /** Runs something that may throw, and logs its result or its error. */
  attempt(action: () => unknown): void;
}

interface Style {
  readonly name: string;
  /** HTTP/2 has no such thing. */
  readonly only?: 'HTTP/1.1';
  /** The application has ended the response, whatever became of it afterwards. */
  readonly ended?: true;
  readonly method?: string;
  /** What the tap is expected to have followed; `nothing` where the response is no body. */
  readonly follows?: 'nothing';
  /** How the client decodes what it received, to compare it with what the tap was fed. */
  readonly decode?: (body: Buffer) => Buffer;
  readonly run: (scene: Scene) => void;
}

const compressed = (
  coding: string,
  compressor: () => NodeJS.ReadWriteStream & { flush(done: () => void): void },
  decode: (body: Buffer) => Buffer,
): Style => ({
  name: `a body in ${coding}, flushed after each event`,
  decode,
  run: ({ res }) => {
    res.writeHead(200, { ...SSE, 'content-encoding': coding });
    const stream = compressor();
    stream.pipe(res);
    stream.write(T);
    stream.flush(() => {
      stream.write(T);
      stream.end();
    });
  },
});

const refused = (name: string, chunk: unknown): Style => ({
  name: `write(${name}), which is refused`,
  run: ({ res, attempt }) => {
    res.writeHead(200, SSE);
    attempt(() => res.write(T));
    attempt(() => res.write(chunk));
    attempt(() => res.end());
  },
});

const STYLES: readonly Style[] = [
  {
    name: 'a head given as an object, strings',
    run: ({ res, attempt }) => {
      res.writeHead(200, SSE);
      attempt(() => res.write(T));
      attempt(() => res.end(T));
    },
  },
  {
    name: 'a head given as a flat array',
    run: ({ res }) => {
      res.writeHead(200, [
        'Content-Type',
        'text/event-stream',
        'Set-Cookie',
        'a',
        'Set-Cookie',
        'b',
      ]);
      res.end(T);
    },
  },
  {
    name: 'a head given as nested arrays',
    run: ({ res, attempt }) => {
      const head = [
        ['content-type', 'text/event-stream'],
        ['x-a', '1'],
      ];
      attempt(() => res.writeHead(200, head));
      attempt(() => res.end(T));
    },
  },
  {
    name: 'a head with a status message',
    run: ({ res }) => {
      res.writeHead(200, 'Fine', SSE);
      res.end(T);
    },
  },
  {
    name: 'a head in parts, the last word in writeHead',
    run: ({ res }) => {
      res.setHeader('content-type', 'text/plain');
      res.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
      res.end(T);
    },
  },
  {
    name: 'an implicit head at the first write',
    run: ({ res, attempt }) => {
      res.setHeader('content-type', 'text/event-stream');
      attempt(() => res.write(T));
      attempt(() => res.write(T));
      res.end();
    },
  },
  {
    name: 'an implicit head at end(chunk)',
    run: ({ res }) => {
      res.setHeader('content-type', 'text/event-stream');
      res.end(T);
    },
  },
  {
    name: 'an implicit head at end()',
    run: ({ res }) => {
      res.setHeader('content-type', 'text/event-stream');
      res.end();
    },
  },
  {
    name: 'a head that is flushed long before the first write',
    run: ({ res }) => {
      res.writeHead(200, SSE);
      res.flushHeaders();
      setImmediate(() => res.end(T));
    },
  },
  {
    name: 'Buffers, Uint8Arrays and views into them',
    run: ({ res, attempt }) => {
      res.writeHead(200, SSE);
      attempt(() => res.write(BYTES));
      attempt(() => res.write(new Uint8Array(BYTES)));
      attempt(() => res.write(BYTES.subarray(3, 9)));
      res.end(Buffer.concat([BYTES, BYTES]).subarray(1));
    },
  },
  {
    name: 'events cut inside a character',
    run: ({ res }) => {
      res.writeHead(200, SSE);
      for (const byte of BYTES) res.write(Buffer.of(byte));
      res.end();
    },
  },
  {
    name: 'strings in every encoding',
    run: ({ res, attempt }) => {
      res.writeHead(200, SSE);
      res.write('id: \u00e9\n', 'latin1');
      res.write('id: \u00e9\n', 'binary');
      res.write('data: a\n', 'ascii');
      res.write(BYTES.toString('hex'), 'hex');
      res.write(BYTES.toString('base64'), 'base64');
      res.write(BYTES.toString('base64url'), 'base64url');
      res.write(T, 'UTF-8' as BufferEncoding);
      attempt(() => res.write(T, 'utf8'));
      res.end('data: x\n\n', 'utf16le');
    },
  },
  {
    name: 'callbacks in every place',
    run: ({ res, log }) => {
      res.writeHead(200, SSE);
      res.write(T, () => log.push('write(chunk, callback)'));
      res.write('id: \u00e9\n', 'latin1', () => log.push('write(chunk, encoding, callback)'));
      res.end(T, () => log.push('end(chunk, callback)'));
    },
  },
  {
    name: 'end(callback)',
    run: ({ res, log }) => {
      res.writeHead(200, SSE);
      res.write(T);
      res.end(() => log.push('end(callback)'));
    },
  },
  {
    name: 'empty chunks',
    run: ({ res, attempt }) => {
      res.writeHead(200, SSE);
      attempt(() => res.write(''));
      attempt(() => res.write(Buffer.alloc(0)));
      attempt(() => res.end(''));
    },
  },
  {
    name: 'cork and uncork',
    run: ({ res }) => {
      res.writeHead(200, SSE);
      res.cork?.();
      res.write('id: 7\n');
      res.write('data: x\n\n');
      res.uncork?.();
      res.end();
    },
  },
  {
    name: 'a stream piped into the response',
    run: ({ res }) => {
      res.writeHead(200, SSE);
      Readable.from([T, T, BYTES]).pipe(res);
    },
  },
  {
    name: 'a pipeline from a generator',
    run: ({ res, log }) => {
      res.writeHead(200, SSE);
      const events = async function* (): AsyncGenerator<string> {
        yield T;
        yield T;
      };
      pipeline(events, res as unknown as ServerResponse, (error) => log.push(['pipeline', error]));
    },
  },
  {
    name: 'a web stream piped into the response',
    run: ({ res }) => {
      res.writeHead(200, SSE);
      const source = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(BYTES);
          controller.close();
        },
      });
      Readable.fromWeb(source).pipe(res);
    },
  },
  {
    name: 'a middleware that replaced write before the head',
    run: ({ res }) => {
      const write = res.write.bind(res) as (...args: unknown[]) => boolean;
      res.write = ((chunk: string, ...rest: unknown[]) =>
        write(chunk.replace('id: 1', 'id: 2'), ...rest)) as typeof res.write;
      res.writeHead(200, SSE);
      res.write(T);
      res.end();
    },
  },
  {
    name: 'a middleware that replaces write and end in the middle',
    run: ({ res }) => {
      res.writeHead(200, SSE);
      res.write(T);
      const write = res.write.bind(res) as (chunk: unknown) => boolean;
      const end = res.end.bind(res) as () => Response;
      res.write = ((chunk: unknown) => write(`: seen\n${chunk}`)) as typeof res.write;
      res.end = ((chunk: unknown) => {
        res.write(chunk);
        return end();
      }) as typeof res.end;
      res.write(T);
      res.end(T);
    },
  },
  compressed('gzip', createGzip, gunzipSync),
  compressed('deflate', createDeflate, inflateSync),
  compressed('br', createBrotliCompress, brotliDecompressSync),
  compressed('zstd', createZstdCompress, zstdDecompressSync),
  {
    name: 'a declared content length',
    run: ({ res }) => {
      res.writeHead(200, { ...SSE, 'content-length': String(2 * BYTES.length) });
      res.write(T);
      res.end(T);
    },
  },
  {
    name: 'trailers',
    run: ({ res }) => {
      res.writeHead(200, { ...SSE, trailer: 'x-end' });
      res.write(T);
      res.addTrailers({ 'x-end': 'yes' });
      res.end();
    },
  },
  refused('null', null),
  refused('a number', 5),
  refused('nothing', undefined),
  {
    name: 'a second head, which is refused',
    run: ({ res, attempt }) => {
      res.writeHead(200, SSE);
      res.write(T);
      attempt(() => res.writeHead(200, SSE));
      attempt(() => res.setHeader('x-late', '1'));
      res.end();
    },
  },
  {
    name: 'a head with a forbidden character, which is refused',
    only: 'HTTP/1.1',
    run: ({ res, attempt }) => {
      attempt(() => res.writeHead(200, { ...SSE, 'x-bad': 'a\nb' }));
      res.writeHead(200, SSE);
      res.end(T);
    },
  },
  {
    name: 'a write after the end',
    ended: true,
    run: ({ res, attempt, log }) => {
      res.writeHead(200, SSE);
      attempt(() => res.end(T));
      attempt(() =>
        res.write(T, (error) => log.push(['late', (error as NodeJS.ErrnoException)?.code])),
      );
      attempt(() => res.end(() => log.push('second end')));
    },
  },
  {
    name: 'a HEAD request, whatever is written',
    method: 'HEAD',
    follows: 'nothing',
    run: ({ res, attempt }) => {
      res.writeHead(200, SSE);
      attempt(() => res.write(T));
      attempt(() => res.end(T));
    },
  },
  {
    name: 'a response that is no event stream',
    follows: 'nothing',
    run: ({ res, attempt }) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      attempt(() => res.write('{"type":"text/event-stream"'));
      attempt(() => res.end('}'));
    },
  },
  {
    name: 'more than the response wants to buffer',
    run: ({ res, log }) => {
      res.writeHead(200, SSE);
      const event = `data: ${'x'.repeat(8000)}\n\n`;
      log.push(Array.from({ length: 12 }, () => res.write(event)));
      res.once('drain', () => {
        log.push('drain');
        res.end();
      });
    },
  },
];

interface Observed {
  /** The code of the error with which the client's body broke off. */
  readonly broken: string | undefined;
  readonly status: number | undefined;
  readonly headers: unknown;
  readonly trailers: unknown;
  readonly body: Buffer;
  readonly log: unknown[];
}

interface Wire {
  observe(style: Style): Promise<Observed>;
}

function counts(emitter: NodeJS.EventEmitter): unknown {
  const names = emitter.eventNames().map((name) => String(name));
  return Object.fromEntries(names.sort().map((name) => [name, emitter.listenerCount(name)]));
}

function visible(target: object): unknown {
  const inherited: string[] = [];
  for (const key in target) inherited.push(key);
  const symbols = Object.getOwnPropertySymbols(target).filter((symbol) =>
    Object.prototype.propertyIsEnumerable.call(target, symbol),
  );
  const methods = ['write', 'end', 'writeHead', 'emit', 'respond'].map((name) => {
    const method = Reflect.get(target, name);
    return [name, Object.hasOwn(target, name), method?.name, method?.length];
  });
  return [Object.keys(target), inherited.sort(), symbols.map(String), methods];
}

function scene(req: Scene['req'], res: Response, emitters: Scene['emitters']): Scene {
  const log: unknown[] = [];
  const attempt = (action: () => unknown): void => {
    try {
      const result = action();
      log.push(result === res ? 'this' : result);
    } catch (error) {
      log.push(['thrown', (error as NodeJS.ErrnoException).code, String(error)]);
    }
  };
  return { req, res, emitters, log, attempt };
}

/** Plays a style, looking at all that an application could notice before, during and after. */
async function play(style: Style, it: Scene): Promise<unknown[]> {
  const look = (when: string): void => {
    it.log.push([when, it.emitters.map(counts), it.emitters.map(visible), visible(it.res)]);
  };
  const closed = new Promise<void>((resolve) => it.res.once('close', resolve));
  it.res.on('error', (error: NodeJS.ErrnoException) => it.log.push(['error event', error.code]));
  look('before');
  try {
    style.run(it);
  } catch (error) {
    it.log.push(['failed', (error as NodeJS.ErrnoException).code]);
    it.res.destroy();
  }
  look('after');
  await closed;
  look('closed');
  return it.log;
}

/** Reads a body to its end, or to the point where it breaks off. */
async function drain(body: Readable): Promise<Pick<Observed, 'body' | 'broken'>> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
    return { body: Buffer.concat(chunks), broken: undefined };
  } catch (error) {
    return {
      body: Buffer.concat(chunks),
      broken: (error as NodeJS.ErrnoException).code ?? 'error',
    };
  }
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const http1: Wire = {
  async observe(style) {
    let log: Promise<unknown[]> | undefined;
    const server = http.createServer((req, res) => {
      log = play(style, scene(req, res as unknown as Response, [req, res, req.socket]));
    });
    const port = await listening(server);
    const request = http.request({ port, method: style.method ?? 'GET', agent: false });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const drained = await drain(response);
    const { date: _, ...headers } = response.headers;
    const observed = {
      ...drained,
      status: response.statusCode,
      headers: [headers, response.statusMessage],
      trailers: response.trailers,
      log: await (log as unknown as Promise<unknown[]>),
    };
    server.close();
    await once(server, 'close');
    return observed;
  },
};

async function ask2(server: http2.Http2Server, style: Style, log: () => Promise<unknown[]>) {
  const session = http2.connect(`http://127.0.0.1:${await listening(server)}`);
  const stream = session.request({ ':path': '/', ':method': style.method ?? 'GET' });
  const [{ date: _, ...headers }] = (await once(stream, 'response')) as [
    http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader,
  ];
  let trailers: unknown;
  stream.on('trailers', (fields) => {
    trailers = { ...fields };
  });
  const drained = await drain(stream);
  const observed = { ...drained, status: headers[':status'], headers, trailers, log: await log() };
  session.close();
  server.close();
  await once(server, 'close');
  return observed;
}

const compat: Wire = {
  observe(style) {
    let log: Promise<unknown[]> | undefined;
    const server = http2.createServer((req: Http2ServerRequest, res: Http2ServerResponse) => {
      log = play(style, scene(req, res as unknown as Response, [req, res, res.stream]));
    });
    return ask2(server, style, () => log as Promise<unknown[]>);
  },
};

/** Lets the styles, which speak to a response, speak to a bare HTTP/2 stream. */
function bare(stream: ServerHttp2Stream): Response {
  const pending: Record<string, string> = {};
  const respond = (status: number, head: unknown): void => {
    stream.respond({ ...pending, ...(head as object), ':status': status });
  };
  return Object.assign(stream, {
    setHeader: (name: string, value: string) => {
      pending[name] = value;
    },
    writeHead: (status: number, ...rest: unknown[]) => respond(status, rest.at(-1)),
    flushHeaders: () => {},
  }) as unknown as Response;
}

// The core API takes one object of headers, in one call.
const NOT_CORE = /array|implicit|trailers|in parts/;

const core: Wire = {
  observe(style) {
    let log: Promise<unknown[]> | undefined;
    const server = http2.createServer();
    server.on('stream', (stream) => {
      log = play(style, scene(undefined as never, bare(stream), [stream]));
    });
    return ask2(server, style, () => log as Promise<unknown[]>);
  },
};

const BOTH = STYLES.filter(({ only }) => only === undefined);

const TABLE: [string, Style, Wire][] = [
  ...STYLES.map((style): [string, Style, Wire] => [`HTTP/1.1: ${style.name}`, style, http1]),
  ...BOTH.map((style): [string, Style, Wire] => [`HTTP/2: ${style.name}`, style, compat]),
  ...BOTH.filter(({ name }) => !NOT_CORE.test(name)).map((style): [string, Style, Wire] => [
    `HTTP/2 streams: ${style.name}`,
    style,
    core,
  ]),
];

test.each(TABLE)('%s: the same with and without the tap', async (_, style, wire) => {
  const without = await wire.observe(style);
  const host = new RecordingHost('server');
  const stop = startServerTap(host);
  const withTap = await wire.observe(style);
  await host.timeline.until(() => host.timeline.connections.every(({ over }) => over));
  stop();
  expect(withTap).toEqual(without);
  expect(host.recorder.errors).toEqual([]);
  const { connections } = host.timeline;
  if (style.follows === 'nothing') {
    expect(connections).toEqual([]);
    return;
  }
  const [connection] = connections;
  const decode = style.decode ?? ((body) => body);
  expect(connection?.steps).toEqual([
    'open',
    'response 200',
    withTap.broken === undefined || style.ended ? 'end eof' : 'end reset',
  ]);
  expect(connection?.bytes).toEqual(decode(withTap.body));
});
