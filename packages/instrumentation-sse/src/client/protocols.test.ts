import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import { createSecureServer } from 'node:http2';
import https from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { claim } from '@sameriver/core';
import type { StopTap } from '@sameriver/telemetry';
import { certificate, loopback, RecordingRecorder, RecordingTimeline } from '@sameriver/testkit';
import * as undici6 from 'undici6';
import * as undici7 from 'undici7';
import * as undici8 from 'undici8';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startClientTap } from './client-tap.ts';

// It has no types.
const { EventSource: LaunchDarkly } = createRequire(import.meta.url)('launchdarkly-eventsource');

const ACCEPT = { accept: 'text/event-stream' };
const STREAM = { 'content-type': 'text/event-stream' };
const EVENTS = 'id: 1\ndata: a\n\nid: 2\ndata: b\n\n';

let timeline: RecordingTimeline;
let recorder: RecordingRecorder;
let stopTap: StopTap;

beforeEach(() => {
  timeline = new RecordingTimeline('client');
  recorder = new RecordingRecorder();
  stopTap = startClientTap({ timeline, recorder, now: () => 0, later: () => () => undefined });
});

afterEach(() => stopTap());

describe('over TLS', () => {
  const tls = { ca: certificate.cert };
  let server: Http2SecureServer;
  let origin: string;
  let versions: string[];

  beforeEach(async () => {
    versions = [];
    server = createSecureServer({ ...certificate, allowHTTP1: true }, (req, res) => {
      versions.push(req.httpVersion);
      res.writeHead(200, STREAM);
      res.write(EVENTS.slice(0, 9));
      res.end(EVENTS.slice(9));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const undicis = [
    ['6', undici6],
    ['7', undici7],
    ['8', undici8],
  ] as unknown as ReadonlyArray<readonly [string, typeof undici8]>;

  test.each(undicis)('undici %s over HTTP/2 is seen once', async (_, undici) => {
    const dispatcher = new undici.Agent({ allowH2: true, connect: tls });
    const { body } = await undici.request(`${origin}/feed`, { headers: ACCEPT, dispatcher });
    expect(await body.text()).toBe(EVENTS);
    await timeline.untilOver(1);
    await dispatcher.close();
    expect(versions).toEqual(['2.0']);
    expect(timeline.connections).toHaveLength(1);
    expect(timeline.connections[0]?.request).toMatchObject({ origin, target: '/feed' });
    expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'end eof']);
    expect(timeline.connections[0]?.text).toBe(EVENTS);
  });

  test('https.get is seen', async () => {
    const request = https.get(`${origin}/feed`, { ...tls, headers: ACCEPT });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    await timeline.untilOver(1);
    request.destroy();
    expect(timeline.connections[0]?.request).toMatchObject({ origin, target: '/feed' });
    expect(timeline.connections[0]?.text).toBe(EVENTS);
  });
});

/** A server that answers with exactly these bytes. */
async function answering(answer: string): Promise<{ origin: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer, 'latin1'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  return { origin: `http://127.0.0.1:${port}`, close };
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n';

describe.each<readonly [string, (origin: string) => Promise<string>]>([
  ['fetch', async (origin) => (await fetch(origin, { headers: ACCEPT })).text()],
  ['undici 8', async (origin) => (await undici8.request(origin, { headers: ACCEPT })).body.text()],
  [
    'node:http',
    async (origin) => {
      const { get } = await import('node:http');
      const request = get(origin, { headers: ACCEPT });
      request.on('error', () => undefined);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      let text = '';
      for await (const chunk of response) text += chunk;
      return text;
    },
  ],
])('answers as they come over the wire to %s', (_, read) => {
  test.each([
    [
      'an interim response goes before',
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${HEAD}\r\n${EVENTS}`,
    ],
    ['the body ends with the connection', `${HEAD}Connection: close\r\n\r\n${EVENTS}`],
    ['the length is declared', `${HEAD}Content-Length: ${EVENTS.length}\r\n\r\n${EVENTS}`],
  ])('%s', async (_what, answer) => {
    const { origin, close } = await answering(answer);
    try {
      expect(await read(origin)).toBe(EVENTS);
      await timeline.untilOver(1);
      expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'end eof']);
      expect(timeline.connections[0]?.text).toBe(EVENTS);
    } finally {
      await close();
    }
  });

  test.each([
    ['a chunk has no size', `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n${EVENTS}\r\n`],
    ['fewer bytes come than were declared', `${HEAD}Content-Length: 999\r\n\r\n${EVENTS}`],
  ])('%s: the stream broke off', async (_what, answer) => {
    const { origin, close } = await answering(answer);
    try {
      await expect(read(origin)).rejects.toThrow();
      await timeline.untilOver(1);
      expect(timeline.connections[0]?.steps.at(-1)).toBe('end reset');
    } finally {
      await close();
    }
  });

  test('what is no HTTP at all is an attempt without a response', async () => {
    const { origin, close } = await answering('SSH-2.0-OpenSSH_9.6\r\n');
    try {
      await expect(read(origin)).rejects.toThrow();
      await timeline.untilOver(1);
      expect(recorder.unanswered.get(timeline.connections[0] as never)).toMatch(/^HPE_/);
    } finally {
      await close();
    }
  });
});

test('a HEAD request has no stream to follow', async () => {
  const { origin, close } = await loopback((_req, res) => {
    res.writeHead(200, STREAM);
    res.end();
  });
  try {
    await fetch(origin, { method: 'HEAD', headers: ACCEPT });
    await (await undici8.request(origin, { method: 'HEAD', headers: ACCEPT })).body.dump();
    expect(timeline.connections).toEqual([]);
  } finally {
    await close();
  }
});

describe('a request object of an undici that is not known', () => {
  // As undici 5 has it: headers in one block of text, and no method that hands bodies on.
  const unknown = (): Record<string, unknown> => ({
    method: 'GET',
    path: '/feed',
    origin: 'http://a.example',
    headers: 'accept: text/event-stream\r\nLast-Event-ID: 7\r\n',
  });
  const publish = (event: string, message: object): void => {
    channel(`undici:request:${event}`).publish(message);
  };
  const response = { statusCode: 200, headers: ['content-type', 'text/event-stream'] };

  test('is read by the channel of body chunks, while a stream is open and no longer', () => {
    const chunks = channel('undici:request:bodyChunkReceived');
    const request = unknown();
    publish('create', { request });
    expect(chunks.hasSubscribers).toBe(false);
    publish('headers', { request, response });
    expect(chunks.hasSubscribers).toBe(true);
    publish('bodyChunkReceived', { request: unknown(), chunk: Buffer.from('of somebody else') });
    publish('bodyChunkReceived', { request, chunk: Buffer.from(EVENTS) });
    publish('trailers', { request });
    expect(chunks.hasSubscribers).toBe(false);
    expect(timeline.connections[0]?.request.header('last-event-id')).toBe('7');
    expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'end eof']);
    expect(timeline.connections[0]?.text).toBe(EVENTS);
  });

  test('is counted once where both a method and the channel hand its body on', () => {
    const request = { ...unknown(), onData: (chunk: Uint8Array) => chunk.length };
    publish('create', { request });
    publish('headers', { request, response });
    publish('bodyChunkReceived', { request, chunk: Buffer.from(EVENTS) });
    expect(request.onData(Buffer.from(EVENTS))).toBe(EVENTS.length);
    publish('error', {
      request,
      error: Object.assign(new Error('gone'), { code: 'UND_ERR_SOCKET' }),
    });
    publish('error', { request, error: new Error('published twice by undici 8') });
    expect(timeline.connections[0]?.text).toBe(EVENTS);
    expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'end reset']);
    expect(Object.keys(request)).toContain('onData');
  });

  test.each([{}, { headers: null }, { headers: 7, path: undefined }, { method: undefined }])(
    'and that has %j harms nobody',
    (odd) => {
      const request = { ...unknown(), ...odd };
      publish('create', { request });
      publish('headers', { request, response });
      publish('trailers', { request });
      expect(timeline.connections.length).toBeLessThanOrEqual(1);
    },
  );

  test('is given up when a more specific instrumentation claims it', () => {
    const [mine, taken] = [unknown(), unknown()];
    claim(mine, 'mcp', 10);
    publish('create', { request: mine });
    publish('create', { request: taken });
    expect(timeline.connections).toHaveLength(1);
    claim(taken, 'mcp', 10);
    publish('headers', { request: taken, response });
    expect(timeline.connections[0]?.steps).toEqual(['open', 'end aborted']);
  });
});

describe('the channel of new requests', () => {
  const create = channel('undici:request:create');
  const newRequest = (): object => ({
    method: 'GET',
    path: '/',
    origin: 'http://a.example',
    headers: ['accept', 'text/event-stream'],
  });

  test('is as it was once the tap is stopped', () => {
    expect(Object.hasOwn(create, 'publish')).toBe(true);
    expect(Object.keys(create)).not.toContain('publish');
    stopTap();
    expect(Object.hasOwn(create, 'publish')).toBe(false);
    for (const event of ['create', 'headers', 'trailers', 'error', 'bodyChunkReceived']) {
      expect(channel(`undici:request:${event}`).hasSubscribers).toBe(false);
    }
  });

  test('may be shadowed by others before and after us', () => {
    stopTap();
    const seen: string[] = [];
    const passOn = (name: string, inner?: typeof create.publish) =>
      function publish(this: typeof create, message: unknown): void {
        seen.push(name);
        (inner ?? Object.getPrototypeOf(this).publish).call(this, message);
      };
    const first = passOn('first');
    create.publish = first;
    stopTap = startClientTap({ timeline, recorder, now: () => 0, later: () => () => undefined });
    create.publish = passOn('last', create.publish);
    create.publish({ request: newRequest() });
    expect(seen).toEqual(['last', 'first']);
    expect(timeline.connections).toHaveLength(1);

    // Ours is in the middle now and cannot be taken out, so it only passes on.
    stopTap();
    create.publish({ request: newRequest() });
    expect(timeline.connections).toHaveLength(1);
    expect(seen).toEqual(['last', 'first', 'last', 'first']);
    delete (create as { publish?: unknown }).publish;
  });

  test('where something replaced its publish, requests are seen all the same', () => {
    create.publish = function publish(this: typeof create, message: unknown): void {
      Object.getPrototypeOf(this).publish.call(this, message);
    };
    create.publish({ request: newRequest() });
    expect(timeline.connections).toHaveLength(1);
    delete (create as { publish?: unknown }).publish;
  });
});

test('two taps in one process do not count a stream twice', async () => {
  const other = new RecordingTimeline('client');
  const stopOther = startClientTap({
    timeline: other,
    recorder: new RecordingRecorder(),
    now: () => 0,
    later: () => () => undefined,
  });
  const { origin, close } = await loopback((_req, res) => {
    res.writeHead(200, STREAM);
    res.end(EVENTS);
  });
  try {
    await (await fetch(origin, { headers: ACCEPT })).text();
    const { get } = await import('node:http');
    await once(
      get(origin, { headers: ACCEPT }, (response) => response.resume()),
      'close',
    );
    const all = [...timeline.connections, ...other.connections];
    expect(all.map(({ steps }) => steps)).toEqual([
      ['open', 'response 200', 'end eof'],
      ['open', 'response 200', 'end eof'],
    ]);
    expect(all.map(({ text }) => text)).toEqual([EVENTS, EVENTS]);
  } finally {
    stopOther();
    await close();
  }
});

describe('an idle timeout, which is not what the application asked for', () => {
  const silent: Parameters<typeof loopback>[0] = (_req, res) => {
    res.writeHead(200, STREAM);
    res.write(EVENTS);
  };

  test.each<readonly [string, (origin: string) => Promise<unknown>]>([
    [
      'the body timeout of undici',
      async (origin) => {
        const { body } = await undici8.request(origin, { headers: ACCEPT, bodyTimeout: 20 });
        return body.text().catch(() => undefined);
      },
    ],
    [
      'a timeout of node:http whose handler destroys the request',
      async (origin) => {
        const { get } = await import('node:http');
        const request = get(origin, { headers: ACCEPT, timeout: 20 });
        request.on('timeout', () => request.destroy());
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.on('error', () => undefined);
        response.resume();
      },
    ],
    [
      'the read timeout of launchdarkly-eventsource',
      async (origin) => {
        const source = new LaunchDarkly(origin, { readTimeoutMillis: 20 });
        source.onerror = () => undefined;
        source.onretrying = () => source.close();
      },
    ],
  ])('%s ends the stream', async (_, read) => {
    const { origin, close } = await loopback(silent);
    try {
      await read(origin);
      await timeline.untilOver(1);
      expect(timeline.connections[0]?.steps).toEqual(['open', 'response 200', 'end idle_timeout']);
    } finally {
      await close();
    }
  });

  test('before the response there was an attempt without one', async () => {
    const { origin, close } = await loopback(() => undefined);
    try {
      const { get } = await import('node:http');
      const request = get(origin, { headers: ACCEPT, timeout: 20 });
      request.on('timeout', () => request.destroy()).on('error', () => undefined);
      await timeline.untilOver(1);
      expect(recorder.unanswered.get(timeline.connections[0] as never)).toBe('idle_timeout');
    } finally {
      await close();
    }
  });
});
