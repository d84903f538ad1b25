import type { RequestListener, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import type { StopTap } from '@sameriver/telemetry';
import type { Loopback, RecordingConnection } from '@sameriver/testkit';
import { loopback, RecordingRecorder, RecordingTimeline } from '@sameriver/testkit';
import { createEventSource } from 'eventsource-client';
import { EventSource as EventSource3 } from 'eventsource3';
import { EventSource as EventSource4 } from 'eventsource4';
import { EventSource as EventSource5 } from 'eventsource5';
import * as undici6 from 'undici6';
import * as undici7 from 'undici7';
import * as undici8 from 'undici8';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startClientTap } from './client-tap.ts';

/** Says what the application saw: `id|data`, or `error`. */
type Saw = (what: string) => void;
/** Opens the library's client. Returns how to close it. */
type Open = (url: string, saw: Saw) => (() => unknown) | Promise<() => unknown>;

interface EventSourceLike {
  onmessage: unknown;
  onerror: unknown;
  close(): void;
}

// Neither has types.
const require = createRequire(import.meta.url);
const EventSource2: unknown = require('eventsource2');
const { EventSource: LaunchDarkly } = require('launchdarkly-eventsource');

function facts(error: unknown): string {
  const { type, code, status, message } = error as Record<string, unknown>;
  return JSON.stringify({ type, code, status, message });
}

const eventSource =
  (Source: unknown): Open =>
  (url, saw) => {
    const Constructor = Source as new (url: string) => EventSourceLike;
    const source = new Constructor(url);
    source.onmessage = (event: { lastEventId: string; data: string }) => {
      saw(`${event.lastEventId}|${event.data}`);
    };
    source.onerror = (error: unknown) => saw(`error ${facts(error)}`);
    return () => source.close();
  };

const byFetchEventSource: Open = (url, saw) => {
  const control = new AbortController();
  const page = globalThis as { window?: unknown; document?: unknown };
  page.window = globalThis;
  page.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
  const done = fetchEventSource(url, {
    signal: control.signal,
    fetch,
    onmessage: ({ id, data }) => data !== '' && saw(`${id}|${data}`),
    onclose: () => {
      throw new Error('closed');
    },
    onerror: (error) => {
      saw(`error ${facts(error)}`);
      return 5;
    },
  });
  return async () => {
    control.abort();
    await done.catch(() => undefined);
    delete page.window;
    delete page.document;
  };
};

// It names a drop `end` or `error` by which of two events of its response came first.
const byLaunchDarkly: Open = (url, saw) => {
  const source = new LaunchDarkly(url, { initialRetryDelayMillis: 5 });
  source.onmessage = ({ lastEventId, data }: { lastEventId: string; data: string }) => {
    saw(`${lastEventId}|${data}`);
  };
  source.onerror = ({ status }: { status?: number }) => status && saw(`error ${status}`);
  source.onretrying = () => saw('error to be retried');
  return () => source.close();
};

const byEventSourceClient: Open = (url, saw) => {
  const source = createEventSource({
    url,
    onMessage: ({ id, data }) => saw(`${id}|${data}`),
    onDisconnect: () => saw('error disconnected'),
    onScheduleReconnect: () => saw('error to be retried'),
  });
  return () => source.close();
};

const LIBRARIES: ReadonlyArray<readonly [string, Open]> = [
  ['eventsource 2', eventSource(EventSource2)],
  ['eventsource 3', eventSource(EventSource3)],
  ['eventsource 4', eventSource(EventSource4)],
  ['eventsource 5', eventSource(EventSource5)],
  ['launchdarkly-eventsource', byLaunchDarkly],
  ['eventsource-client', byEventSourceClient],
  ['@microsoft/fetch-event-source', byFetchEventSource],
  ['undici 6 EventSource', eventSource(undici6.EventSource)],
  ['undici 7 EventSource', eventSource(undici7.EventSource)],
  ['undici 8 EventSource', eventSource(undici8.EventSource)],
  // Behind --experimental-eventsource.
  ...('EventSource' in globalThis
    ? [['global EventSource', eventSource(globalThis.EventSource)] as const]
    : []),
];

const FIRST = [
  'retry: 5\n\n: hello\nid: 1\nda',
  'ta: one\n\nid: 2\ndata: h\u00e9',
  'llo\n\nid: 3\r\ndata: \u{1F600}\r\n\r\n',
];
const SECOND = ['id: 4\ndata: four\n\nid: 5\n', 'data: five\n\n'];
const STREAM = { 'content-type': 'text/event-stream' };

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

let runs = 0;

/** Some clients go on trying to reach the server of a run before, whose port may be ours by now. */
async function serve(handler: RequestListener): Promise<string> {
  await server?.close();
  runs += 1;
  const path = `/run-${runs}?room=7`;
  server = await loopback((req, res) => {
    if (req.url === path) handler(req, res);
    else res.destroy();
  });
  return server.origin + path;
}

/** Those of this run. */
function connections(): RecordingConnection[] {
  return timeline.connections.filter(({ request }) => request.target.startsWith(`/run-${runs}?`));
}

async function untilOver(count: number): Promise<void> {
  await timeline.until(() => connections().filter(({ over }) => over).length >= count);
}

/** Each chunk leaves before the next one is written. */
async function writeAll(res: ServerResponse, chunks: readonly string[]): Promise<void> {
  for (const chunk of chunks) await new Promise((resolve) => res.write(chunk, resolve));
}

/** Sends the first part, drops the connection, and sends the rest to whoever comes back. */
async function reconnectOnce(open: Open): Promise<{ saw: string[]; asked: unknown[] }> {
  const saw: string[] = [];
  const asked: unknown[] = [];
  const complete = Promise.withResolvers<void>();
  const url = await serve(async (req, res) => {
    asked.push([req.method, req.headers.accept, req.headers['last-event-id']]);
    res.writeHead(200, STREAM);
    await writeAll(res, asked.length === 1 ? FIRST : SECOND);
    if (asked.length === 1) res.end();
  });
  const close = await open(url, (what) => {
    saw.push(what);
    if (what.startsWith('5|')) complete.resolve();
  });
  await complete.promise;
  await close();
  return { saw, asked };
}

describe.each(LIBRARIES)('%s', (_, open) => {
  test('a stream that is dropped and resumed is the same with us, and every byte is seen', async () => {
    const without = await reconnectOnce(open);
    startTap();
    const withUs = await reconnectOnce(open);
    await untilOver(2);

    expect(withUs).toEqual(without);
    expect(without.saw).toContain('5|five');
    expect(connections().map(({ text }) => text)).toEqual([FIRST.join(''), SECOND.join('')]);
    const [first, second] = connections();
    expect(first?.steps).toEqual(['open', 'response 200', 'end eof']);
    expect(second?.steps).toEqual(['open', 'response 200', 'end aborted']);
    expect(second?.request.header('last-event-id')).toBe(
      (without.asked[1] as unknown[])[2] as string,
    );
    expect(recorder.errors).toEqual([]);
  });

  test('a refusal is the same with us, and is told', async () => {
    const refused = async (): Promise<string> => {
      const failed = Promise.withResolvers<string>();
      const url = await serve((_req, res) => {
        res.writeHead(204);
        res.end();
      });
      const close = await open(url, failed.resolve);
      const saw = await failed.promise;
      await close();
      return saw;
    };
    const without = await refused();
    startTap();
    expect(await refused()).toEqual(without);
    expect(without).toMatch(/^error /);
    expect(connections()[0]?.steps).toEqual(['open', 'response 204']);
    expect(recorder.noStreams.size).toBeGreaterThan(0);
  });

  test('a server that resets the connection is the same with us', async () => {
    const reset = async (): Promise<string[]> => {
      const saw: string[] = [];
      const failed = Promise.withResolvers<void>();
      const delivered = Promise.withResolvers<void>();
      const url = await serve(async (_req, res) => {
        res.writeHead(200, STREAM);
        await writeAll(res, FIRST);
        // A reset takes with it what the client has not read yet.
        await delivered.promise;
        res.socket?.resetAndDestroy();
      });
      const close = await open(url, (what) => {
        saw.push(what);
        if (what.startsWith('3|')) delivered.resolve();
        if (what.startsWith('error')) failed.resolve();
      });
      await failed.promise;
      await close();
      return saw;
    };
    const without = await reset();
    startTap();
    expect(await reset()).toEqual(without);
    await untilOver(1);
    expect(connections()[0]?.text).toBe(FIRST.join(''));
    expect(connections()[0]?.steps.at(-1)).toBe('end reset');
  });
});
