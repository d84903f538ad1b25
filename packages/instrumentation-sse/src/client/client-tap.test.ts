import type { RequestListener, ServerResponse } from 'node:http';
import http from 'node:http';
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import type { StreamConnection } from '@sameriver/core';
import type { StopTap, TapHost } from '@sameriver/telemetry';
import type { Loopback, TimelineStep } from '@sameriver/testkit';
import { loopback, RecordingRecorder, RecordingTimeline } from '@sameriver/testkit';
import * as undici6 from 'undici6';
import * as undici7 from 'undici7';
import * as undici8 from 'undici8';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startClientTap } from './client-tap.ts';

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** One way to read an HTTP response. `text` rejects when the body breaks off. */
interface Read {
  readonly status: number;
  text(): Promise<string>;
}

type Way = (url: string, asked?: Asked) => Promise<Read>;

const request =
  (undici: { request: typeof undici7.request }): Way =>
  async (url, asked = {}) => {
    const { statusCode, body } = await undici.request(url, asked as never);
    return { status: statusCode, text: () => body.text() };
  };

const nodeHttp: Way = (url, { body, ...options } = {}) =>
  new Promise((resolve, reject) => {
    const asked = http.request(url, options, (response) => {
      const text = async (): Promise<string> => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        return Buffer.concat(chunks).toString();
      };
      resolve({ status: response.statusCode ?? 0, text });
    });
    asked.on('error', reject);
    asked.end(body);
  });

const WAYS: ReadonlyArray<readonly [string, Way]> = [
  ['global fetch', fetch as Way],
  ['undici 6 fetch', undici6.fetch as Way],
  ['undici 7 fetch', undici7.fetch as Way],
  ['undici 8 fetch', undici8.fetch as Way],
  ['undici 6 request', request(undici6 as never)],
  ['undici 7 request', request(undici7)],
  ['undici 8 request', request(undici8 as never)],
  ['node:http', nodeHttp],
];
const ASKS = { headers: { accept: 'text/event-stream', 'last-event-id': '41' } };
const STREAM = { 'content-type': 'text/event-stream' };
const EVENTS = 'id: 42\ndata: h\u00e9llo\n\nid: 43\ndata: \u{1F600}\n\n';

let timeline: RecordingTimeline;
let recorder: RecordingRecorder;
let timers: Set<() => void>;
let clock: number;
let ignored: string | undefined;
let stopTap: StopTap;
let server: Loopback | undefined;

beforeEach(() => {
  timeline = new RecordingTimeline('client');
  recorder = new RecordingRecorder();
  timers = new Set();
  clock = 1000;
  ignored = undefined;
  const host: TapHost = {
    timeline,
    recorder,
    now: () => clock,
    later: (callback) => {
      timers.add(callback);
      return () => timers.delete(callback);
    },
    ignore: ({ target }) => target === ignored,
  };
  stopTap = startClientTap(host);
});

afterEach(async () => {
  stopTap();
  await server?.close();
  server = undefined;
});

async function serve(handler: RequestListener): Promise<string> {
  server = await loopback(handler);
  return server.origin;
}

const streaming: RequestListener = (_, res) => {
  res.writeHead(200, STREAM);
  res.end(EVENTS);
};

function fireTimers(): void {
  for (const callback of [...timers]) {
    timers.delete(callback);
    callback();
  }
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It was to fail, and did not.');
}

test('headers set after a request of node:http was made count as well', async () => {
  const origin = await serve((req, res) => {
    res.writeHead(req.url === '/gone' ? 410 : 200, STREAM);
    res.end(EVENTS);
  });
  for (const path of ['/feed', '/gone']) {
    await new Promise((resolve) => {
      const asked = http.request(origin + path, (response) => response.resume().on('end', resolve));
      asked.setHeader('Last-Event-ID', '41');
      asked.end();
    });
  }
  const told = timeline.connections.map(({ steps, request: { header } }) => [
    ...steps,
    header('last-event-id'),
  ]);
  expect(told).toEqual([
    ['open', 'response 200', 'end eof', '41'],
    ['open', 'response 410', '41'],
  ]);
});

describe('the handshake of a WebSocket is no attempt of ours, even with a cursor in it', () => {
  const open = (Socket: typeof WebSocket, url: string): Promise<void> =>
    new Promise((resolve) => new Socket(url).addEventListener('error', () => resolve()));
  const headers = { connection: 'upgrade', upgrade: 'WebSocket', 'last-event-id': '41' };

  test.each<[string, (url: string) => Promise<unknown>]>([
    ['the global WebSocket', (url) => open(globalThis.WebSocket, url)],
    ['undici 6', (url) => open(undici6.WebSocket as never, url)],
    ['undici 7', (url) => open(undici7.WebSocket as never, url)],
    ['undici 8', (url) => open(undici8.WebSocket as never, url)],
    ['node:http', async (url) => (await nodeHttp(url, { headers })).text()],
  ])('%s', async (_name, handshake) => {
    timeline.wanted = () => true;
    let answered = 0;
    const origin = await serve((_req, res) => {
      answered += 1;
      res.writeHead(410).end();
    });
    await handshake(`${origin}/feed?since=41`);
    expect(answered).toBe(1);
    expect(timeline.connections).toEqual([]);
  });
});

describe.each(WAYS)('%s', (_, read) => {
  test('a stream is followed from its request to its last byte', async () => {
    const origin = await serve(streaming);
    const response = await read(`${origin}/feed?room=7`, ASKS);
    expect(await response.text()).toBe(EVENTS);
    await timeline.untilOver(1);

    const [connection] = timeline.connections;
    expect(timeline.connections).toHaveLength(1);
    expect(connection?.steps).toEqual(['open', 'response 200', 'end eof']);
    expect(connection?.text).toBe(EVENTS);
    expect(connection?.request).toMatchObject({ transport: 'sse', method: 'GET', origin });
    expect(connection?.request.target).toBe('/feed?room=7');
    expect(connection?.request.header('last-event-id')).toBe('41');
    expect(recorder.starts.get(connection as StreamConnection)?.attributes).toEqual({
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(origin).port),
    });
    expect(recorder.errors).toEqual([]);
  });

  test('a request that does not ask for a stream is opened when a stream comes', async () => {
    const origin = await serve(streaming);
    const asked = {
      method: 'POST',
      body: '{"stream":true}',
      headers: { accept: 'application/json' },
    };
    expect(await (await read(`${origin}/completions`, asked)).text()).toBe(EVENTS);
    await timeline.untilOver(1);
    const [connection] = timeline.connections;
    expect(connection?.text).toBe(EVENTS);
    expect(connection?.request).toMatchObject({ method: 'POST', target: '/completions' });
  });

  test('a call that takes JSON or a stream, and gets JSON, is no attempt to connect', async () => {
    const origin = await serve((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end('{}');
    });
    const headers = { accept: 'application/json, text/event-stream' };
    const response = await read(`${origin}/mcp`, { method: 'POST', body: '{}', headers });
    expect(await response.text()).toBe('{}');
    expect(timeline.connections).toEqual([]);
  });

  test('R1: a refusal of a resume request is told, and its body is not fed', async () => {
    const origin = await serve((_req, res) => {
      res.writeHead(410, STREAM);
      res.end('id: 1\ndata: gone\n\n');
    });
    const response = await read(`${origin}/`, ASKS);
    expect(response.status).toBe(410);
    await response.text();
    const [connection] = timeline.connections;
    expect(connection?.steps).toEqual(['open', 'response 410']);
    expect(connection?.text).toBe('');
    expect(recorder.noStreams).toEqual(new Set([connection]));
  });

  test('a timeline that knows the stream hears of an answer to a bare request', async () => {
    timeline.wanted = ({ target }) => target.includes('since=');
    const origin = await serve((_req, res) => {
      res.writeHead(404);
      res.end();
    });
    await (await read(`${origin}/feed`)).text();
    await (await read(`${origin}/feed?since=7`)).text();
    expect(timeline.connections.map(({ steps }) => steps)).toEqual([['open', 'response 404']]);
  });

  test('a server that resets the connection ends the stream by reset', async () => {
    const origin = await serve((_req, res) => {
      res.writeHead(200, STREAM);
      res.write('id: 1\ndata: a\n\n', () => res.socket?.resetAndDestroy());
    });
    await failureOf((await read(origin, ASKS)).text());
    await timeline.untilOver(1);
    expect(timeline.connections[0]?.steps.at(-1)).toBe('end reset');
  });

  test('a server that closes in the middle of the body ends the stream by reset', async () => {
    const origin = await serve((_req, res) => {
      res.writeHead(200, STREAM);
      res.write('id: 1\ndata: a\n\n', () => res.destroy());
    });
    await failureOf((await read(origin, ASKS)).text());
    await timeline.untilOver(1);
    expect(timeline.connections[0]?.steps.at(-1)).toBe('end reset');
    expect(timeline.connections[0]?.text).toBe('id: 1\ndata: a\n\n');
  });

  test('an application that aborts ends the stream by its own wish', async () => {
    const origin = await serve((_req, res) => {
      res.writeHead(200, STREAM);
      res.write('id: 1\ndata: a\n\n');
    });
    const control = new AbortController();
    const response = await read(origin, { ...ASKS, signal: control.signal });
    await timeline.until(() => timeline.connections[0]?.text !== '');
    control.abort();
    await failureOf(response.text());
    await timeline.untilOver(1);
    expect(timeline.connections[0]?.steps.at(-1)).toBe('end aborted');
  });

  test('an attempt without a response is an attempt, and no connection (R1)', async () => {
    const closed = await loopback(streaming);
    await closed.close();
    await failureOf(read(closed.origin, ASKS));
    await timeline.untilOver(1);
    const [connection] = timeline.connections;
    expect(recorder.unanswered.get(connection as StreamConnection)).toBe('ECONNREFUSED');
    expect(connection?.steps).toEqual(['open', 'end reset']);
  });

  test('an application that aborts before the response leaves an attempt behind', async () => {
    const reached = Promise.withResolvers<void>();
    const origin = await serve(() => reached.resolve());
    const control = new AbortController();
    const failing = failureOf(read(origin, { ...ASKS, signal: control.signal }));
    await reached.promise;
    control.abort();
    await failing;
    await timeline.untilOver(1);
    const [connection] = timeline.connections;
    expect(recorder.unanswered.has(connection as StreamConnection)).toBe(true);
    expect(connection?.steps).toEqual(['open', 'end aborted']);
  });

  test('two requests over one kept-alive connection are kept apart', async () => {
    const origin = await serve(streaming);
    for (const path of ['/one', '/two']) await (await read(origin + path, ASKS)).text();
    await timeline.untilOver(2);
    expect(timeline.connections.map(({ request: { target }, text }) => [target, text])).toEqual([
      ['/one', EVENTS],
      ['/two', EVENTS],
    ]);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('a body in %s is decoded for the timeline (%#)', async (coding, encode) => {
    const origin = await serve((_req, res) => {
      res.writeHead(200, { ...STREAM, 'content-encoding': coding });
      res.end(encode(EVENTS));
    });
    await (await read(origin, ASKS)).text();
    await timeline.untilOver(1);
    expect(timeline.connections[0]?.text).toBe(EVENTS);
    expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'end eof']);
    expect(recorder.errors).toEqual([]);
  });

  test('a body in a coding that is unknown here is not fed, and that is counted', async () => {
    const origin = await serve((_req, res) => {
      res.writeHead(200, { ...STREAM, 'content-encoding': 'snappy' });
      res.end('???');
    });
    await (await read(origin, ASKS)).text();
    await timeline.untilOver(1);
    expect(timeline.connections[0]?.text).toBe('');
    expect(timeline.connections[0]?.steps.at(-1)).toBe('end eof');
    expect(recorder.errors).toEqual(['decoder']);
  });

  test('R16: a stream without a deciding byte times out once, and only while it is open', async () => {
    timeline.settles = false;
    const finish = Promise.withResolvers<ServerResponse>();
    const origin = await serve((_req, res) => {
      res.writeHead(200, STREAM);
      res.write(': nothing yet\n\n');
      finish.resolve(res);
    });
    const response = await read(origin, ASKS);
    await timeline.until(() => timeline.connections[0]?.text !== '');
    expect(timers.size).toBe(1);
    fireTimers();
    (await finish.promise).end();
    await response.text();
    await timeline.untilOver(1);
    expect(timers.size).toBe(0);
    expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'timeout', 'end eof']);
  });

  test.each([
    ['is gone as soon as the connection is settled', 'identity' as const, 0],
    [
      'goes on for a settled connection where frames are read: one may be a reset (R3)',
      'messages' as const,
      1,
    ],
  ])('the timer %s', async (_title, reads, left) => {
    timeline.reads = reads;
    const finish = Promise.withResolvers<ServerResponse>();
    const origin = await serve((_req, res) => {
      res.writeHead(200, STREAM);
      res.write('id: 1\ndata: a\n\n');
      finish.resolve(res);
    });
    const response = await read(origin, ASKS);
    await timeline.until(() => timeline.connections[0]?.text !== '');
    expect(timers.size).toBe(left);
    (await finish.promise).end();
    await response.text();
    await timeline.untilOver(1);
    expect(timers.size).toBe(0);
  });

  test('the application may have a request ignored', async () => {
    ignored = '/private';
    const origin = await serve(streaming);
    expect(await (await read(`${origin}/private`, ASKS)).text()).toBe(EVENTS);
    expect(timeline.connections).toEqual([]);
  });

  test('a tap that is stopped ends what is open and sees nothing more', async () => {
    const held = Promise.withResolvers<ServerResponse>();
    const origin = await serve((_req, res) => {
      res.writeHead(200, STREAM);
      res.write('id: 1\ndata: a\n\n');
      held.resolve(res);
    });
    const response = await read(origin, ASKS);
    await timeline.until(() => timeline.connections[0]?.text !== '');
    stopTap();
    (await held.promise).end('id: 2\ndata: b\n\n');
    expect(await response.text()).toBe('id: 1\ndata: a\n\nid: 2\ndata: b\n\n');
    expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'end aborted']);
    expect(timeline.connections[0]?.text).toBe('id: 1\ndata: a\n\n');
    expect(timers.size).toBe(0);
  });

  const steps: TimelineStep[] = ['wants', 'open', 'response', 'push', 'settled', 'end'];
  test.each(steps)(
    'a fault of ours at %s is counted and never reaches the reader',
    async (step) => {
      timeline.faults.add(step);
      const origin = await serve(streaming);
      const [path, asked] = step === 'wants' ? ['/?since=7', {}] : ['/', ASKS];
      expect(await (await read(origin + path, asked)).text()).toBe(EVENTS);
      await timeline.until(() => recorder.errors.length > 0);
      expect(new Set(recorder.errors)).toEqual(new Set(['client_tap']));
      timeline.faults.clear();
      await (await read(`${origin}/next`, ASKS)).text();
      await timeline.until(() => timeline.connections.at(-1)?.steps.at(-1) === 'end eof');
    },
  );
});
