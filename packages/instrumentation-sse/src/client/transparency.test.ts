import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import http from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { StopTap } from '@sameriver/telemetry';
import type { Loopback } from '@sameriver/testkit';
import { loopback, RecordingRecorder, RecordingTimeline } from '@sameriver/testkit';
import * as undici6 from 'undici6';
import * as undici8 from 'undici8';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startClientTap } from './client-tap.ts';

const ACCEPT = { accept: 'text/event-stream' };
const STREAM = { 'content-type': 'text/event-stream' };
const EVENTS = 'id: 1\ndata: h\u00e9llo\n\nid: 2\ndata: \u{1F600}\n\n';

let timeline: RecordingTimeline;
let recorder: RecordingRecorder;
let stopTap: StopTap | undefined;
let server: Loopback | undefined;

beforeEach(() => {
  timeline = new RecordingTimeline('client');
  recorder = new RecordingRecorder();
});

afterEach(async () => {
  stopTap?.();
  stopTap = undefined;
  await server?.close();
  server = undefined;
});

function startTap(): void {
  stopTap = startClientTap({ timeline, recorder, now: () => 0, later: () => () => undefined });
}

async function serve(handler: RequestListener): Promise<string> {
  await server?.close();
  server = await loopback(handler);
  return server.origin;
}

const streaming: RequestListener = (_req, res) => {
  res.writeHead(200, STREAM);
  // Seven bytes at a time: through the middle of characters and of field names.
  const bytes = Buffer.from(EVENTS);
  for (let at = 0; at < bytes.length; at += 7) res.write(bytes.subarray(at, at + 7));
  res.end();
};

/** Runs the same twice, first without a tap, and expects the same of both. */
async function sameWithUs<Outcome>(run: (origin: string) => Promise<Outcome>): Promise<Outcome> {
  const without = await run(await serve(streaming));
  startTap();
  expect(await run(await serve(streaming))).toEqual(without);
  await timeline.until(() => timeline.connections[0]?.over === true);
  expect(recorder.errors).toEqual([]);
  return without;
}

async function textOf(chunks: AsyncIterable<string | Uint8Array>): Promise<string> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(all).toString();
}

type Body = ReadableStream<Uint8Array>;

describe.each<readonly [string, (response: Response) => Promise<unknown>]>([
  ['text()', (response) => response.text()],
  ['for await', (response) => textOf(response.body as never)],
  ['a reader', (response) => textOf(Readable.fromWeb(response.body as never))],
  [
    'a BYOB reader',
    async ({ body }) => {
      const reader = (body as Body).getReader({ mode: 'byob' });
      const chunks: Uint8Array[] = [];
      for (let part = await reader.read(new Uint8Array(5)); !part.done; ) {
        chunks.push(part.value);
        part = await reader.read(new Uint8Array(5));
      }
      return Buffer.concat(chunks).toString();
    },
  ],
  [
    'pipeThrough',
    async ({ body }) => {
      let text = '';
      const decoded = (body as Body).pipeThrough(new TextDecoderStream() as never);
      for await (const part of decoded as unknown as AsyncIterable<string>) text += part;
      return text;
    },
  ],
  [
    'tee',
    async ({ body }) => {
      const [one, other] = (body as Body).tee();
      return Promise.all([textOf(one as never), textOf(other as never)]);
    },
  ],
  [
    'clone()',
    async (response) => {
      const twin = response.clone();
      return Promise.all([response.text(), twin.text()]);
    },
  ],
])('a fetch body read by %s', (_, consume) => {
  test.each([
    ['global fetch', fetch],
    ['undici 6', undici6.fetch as never],
    ['undici 8', undici8.fetch as never],
  ] as ReadonlyArray<readonly [string, typeof fetch]>)(
    '%s is as it is without us',
    async (_name, doFetch) => {
      await sameWithUs(async (origin) => {
        const response = await doFetch(origin, { headers: ACCEPT });
        const facts = {
          body: [response.body, response.body].every((body, _at, all) => body === all[0]),
          locked: response.body?.locked,
          used: response.bodyUsed,
          keys: Reflect.ownKeys(response).length,
          bodyKeys: Reflect.ownKeys(response.body as object).length,
          prototype:
            Object.getPrototypeOf(response) === Object.getPrototypeOf(await doFetch(origin)),
          url: response.url.slice(origin.length),
        };
        return { facts, text: await consume(response), used: response.bodyUsed };
      });
      expect(timeline.connections[0]?.text).toBe(EVENTS);
    },
  );
});

function listeners(emitter: NodeJS.EventEmitter): Record<string, number> {
  return Object.fromEntries(
    emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]),
  );
}

describe.each<readonly [string, (response: IncomingMessage) => Promise<unknown>]>([
  ['data events', async (response) => textOf((await collect(response)) as never)],
  ['for await', (response) => textOf(response)],
  [
    'setEncoding',
    async (response) => {
      response.setEncoding('utf8');
      return collect(response);
    },
  ],
  ['pipe', (response) => textOf(response.pipe(new PassThrough()))],
  [
    'pipeline',
    async (response) => {
      const through = new PassThrough();
      const [text] = await Promise.all([textOf(through), pipeline(response, through)]);
      return text;
    },
  ],
  [
    'readable and read(n)',
    async (response) => {
      let text = '';
      response.on('readable', () => {
        for (let part = response.read(3); part !== null; part = response.read(3)) {
          text += part.toString('latin1');
        }
        const rest = response.read();
        if (rest !== null) text += rest.toString('latin1');
      });
      await once(response, 'end');
      return text;
    },
  ],
])('a response of node:http read by %s', (_, consume) => {
  test('is as it is without us, listeners included', async () => {
    await sameWithUs(async (origin) => {
      const request = http.get(origin, { headers: ACCEPT });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const { socket } = response;
      const facts = (): unknown => ({
        request: [Object.keys(request), listeners(request), request.emit.length],
        response: [Object.keys(response), listeners(response), response.push.length],
        socket: listeners(socket),
        flowing: response.readableFlowing,
        destroy: [request.destroy.name, response.destroy.length],
      });
      const before = facts();
      const text = await consume(response);
      return { before, text, after: facts() };
    });
    expect(timeline.connections[0]?.text).toBe(EVENTS);
  });
});

async function collect(response: IncomingMessage): Promise<Array<string | Buffer>> {
  const parts: Array<string | Buffer> = [];
  response.on('data', (part) => parts.push(part));
  await once(response, 'end');
  return parts;
}

/** A reader that the test can stall, resume and leave. */
interface Reader {
  read(): Promise<number>;
  drain(): Promise<number>;
  leave(): Promise<unknown>;
}

type OpenReader = (origin: string) => Promise<Reader>;

const webReader = (body: Body): Reader => {
  const reader = body.getReader();
  const read = async (): Promise<number> => (await reader.read()).value?.byteLength ?? 0;
  return {
    read,
    drain: async () => {
      let total = 0;
      for (let size = await read(); size > 0; size = await read()) total += size;
      return total;
    },
    leave: () => reader.cancel(),
  };
};

const nodeReader = (stream: Readable): Reader => {
  const chunks = stream[Symbol.asyncIterator]();
  const read = async (): Promise<number> => (await chunks.next()).value?.length ?? 0;
  return {
    read,
    drain: async () => {
      let total = 0;
      for (let size = await read(); size > 0; size = await read()) total += size;
      return total;
    },
    leave: async () => chunks.return?.(),
  };
};

const READERS: ReadonlyArray<readonly [string, OpenReader]> = [
  ['global fetch', async (origin) => webReader((await fetch(origin, { headers: ACCEPT })).body!)],
  [
    'undici 6 fetch',
    async (origin) => webReader((await undici6.fetch(origin, { headers: ACCEPT })).body as never),
  ],
  [
    'undici 8 fetch',
    async (origin) => webReader((await undici8.fetch(origin, { headers: ACCEPT })).body as never),
  ],
  [
    'undici 6 request',
    async (origin) => nodeReader((await undici6.request(origin, { headers: ACCEPT })).body),
  ],
  [
    'undici 8 request',
    async (origin) => nodeReader((await undici8.request(origin, { headers: ACCEPT })).body),
  ],
  [
    'node:http',
    async (origin) => {
      const request: ClientRequest = http.get(origin, { headers: ACCEPT });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return nodeReader(response);
    },
  ],
];

const FRAME = `id: 1\ndata: ${'x'.repeat(65_536)}\n\n`;
const FRAMES = 512;

/** Writes 32 MiB as fast as the reader takes them. */
async function pour(res: ServerResponse, poured: { frames: number }): Promise<void> {
  res.writeHead(200, STREAM);
  let goOn = (): void => undefined;
  res.on('drain', () => goOn());
  res.on('close', () => goOn());
  while (poured.frames < FRAMES && !res.destroyed) {
    poured.frames += 1;
    const room = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    if (!res.write(FRAME)) await room;
  }
  res.end();
}

/** Round trips, each of which lets every socket of the process have its turn. */
async function stalled(origin: string, poured: { frames: number }): Promise<number> {
  let before = -1;
  while (before !== poured.frames) {
    before = poured.frames;
    for (let trip = 0; trip < 25; trip += 1) {
      await new Promise((resolve) => {
        http.get(`${origin}/ping`, (response) => response.resume().on('end', resolve));
      });
    }
  }
  return poured.frames;
}

describe.each(READERS)('backpressure of %s', (_, open) => {
  const pouring = (poured: { frames: number }, closed?: () => void): RequestListener => {
    return (req, res) => {
      if (req.url === '/ping') return void res.end();
      if (closed !== undefined) res.on('close', closed);
      void pour(res, poured);
    };
  };

  test('a reader that stalls stalls the server, and gets every byte when it goes on', async () => {
    startTap();
    const poured = { frames: 0 };
    const origin = await serve(pouring(poured));
    const reader = await open(origin);
    const first = await reader.read();
    const frames = await stalled(origin, poured);
    expect(frames).toBeLessThan(FRAMES / 2);
    expect(timeline.connections[0]?.bytes.length).toBeLessThanOrEqual(frames * FRAME.length);
    expect(first + (await reader.drain())).toBe(FRAMES * FRAME.length);
    await timeline.untilOver(1);
    expect(timeline.connections[0]?.bytes.length).toBe(FRAMES * FRAME.length);
  });

  test('a reader that leaves is gone for the server too', async () => {
    startTap();
    const left = Promise.withResolvers<void>();
    const poured = { frames: 0 };
    const origin = await serve(pouring(poured, left.resolve));
    const reader = await open(origin);
    await reader.read();
    await reader.leave();
    await left.promise;
    await timeline.untilOver(1);
    expect(poured.frames).toBeLessThan(FRAMES);
    expect(timeline.connections[0]?.steps.at(-1)).toBe('end aborted');
  });
});
