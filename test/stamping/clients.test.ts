import { createRequire } from 'node:module';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { createEventSource } from 'eventsource-client';
import { EventSource as EventSource3 } from 'eventsource3';
import { EventSource as EventSource4 } from 'eventsource4';
import { EventSource as EventSource5 } from 'eventsource5';
import { EventSource as EventSourceOfUndici } from 'undici8';
import { afterEach, describe, expect, it } from 'vitest';
import type { LogServer } from './log-server.ts';
import { ALL, stamp, startLogServer } from './log-server.ts';

/** Says what the application saw: `id|data`. */
type Saw = (what: string) => void;
/** Opens the library's client. Returns how to close it. */
type Open = (url: string, saw: Saw) => () => void;

interface EventSourceLike {
  onmessage: unknown;
  onerror: unknown;
  close(): void;
}

// Neither has types.
const require = createRequire(import.meta.url);
const EventSource2: unknown = require('eventsource2');
const { EventSource: LaunchDarkly } = require('launchdarkly-eventsource');

const eventSource =
  (Source: unknown, options?: object): Open =>
  (url, saw) => {
    const Constructor = Source as new (url: string, options?: object) => EventSourceLike;
    const source = new Constructor(url, options);
    source.onmessage = ({ lastEventId, data }: MessageEvent) => saw(`${lastEventId}|${data}`);
    source.onerror = () => {};
    return () => source.close();
  };

const CLIENTS: Readonly<Record<string, Open>> = {
  'eventsource 2': eventSource(EventSource2),
  'eventsource 3': eventSource(EventSource3),
  'eventsource 4': eventSource(EventSource4),
  'eventsource 5': eventSource(EventSource5),
  'EventSource of undici': eventSource(EventSourceOfUndici),
  'launchdarkly-eventsource': eventSource(LaunchDarkly, { initialRetryDelayMillis: 5 }),
  'eventsource-client': (url, saw) => {
    const client = createEventSource({ url, onMessage: ({ id, data }) => saw(`${id}|${data}`) });
    return () => client.close();
  },
  '@microsoft/fetch-event-source': (url, saw) => {
    const control = new AbortController();
    const page = globalThis as { window?: unknown; document?: unknown };
    page.window = globalThis;
    page.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
    const done = fetchEventSource(url, {
      signal: control.signal,
      fetch,
      onmessage: ({ id, data }) => {
        if (data !== '') saw(`${id}|${data}`);
      },
      onclose: () => {
        throw new Error('closed');
      },
      onerror: () => 5,
    });
    done.catch(() => undefined);
    return () => control.abort();
  },
};

let server: LogServer | undefined;
afterEach(() => server?.close());

describe.each(Object.entries(CLIENTS))('%s', (_, open) => {
  it.each([
    ['without', () => {}],
    ['with', stamp],
  ])(
    'reads the same events, and comes back with the same cursor, %s stamping',
    async (_, before) => {
      server = await startLogServer(before);
      const seen: string[] = [];
      const all = new Promise<void>((resolve) => {
        const close = open(server?.url ?? '', (what) => {
          seen.push(what);
          if (seen.length < ALL.length) return;
          close();
          resolve();
        });
      });
      await all;
      expect(seen).toEqual(ALL);
      expect(server.cursors.slice(0, 2)).toEqual([undefined, '3']);
    },
  );
});
