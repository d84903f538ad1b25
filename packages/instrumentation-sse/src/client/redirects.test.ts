import type { RequestListener } from 'node:http';
import http from 'node:http';
import type { StopTap } from '@sameriver/telemetry';
import type { Loopback } from '@sameriver/testkit';
import { loopback, RecordingRecorder, RecordingTimeline } from '@sameriver/testkit';
import * as undici6 from 'undici6';
import * as undici7 from 'undici7';
import * as undici8 from 'undici8';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startClientTap } from './client-tap.ts';

type Follow = (url: string, headers: Record<string, string>) => Promise<string>;

const request =
  (undici: typeof undici7): Follow =>
  async (url, headers) => {
    const { redirect } = undici.interceptors;
    const dispatcher = new undici.Agent().compose(redirect({ maxRedirections: 5 }));
    const { body } = await undici.request(url, { dispatcher, headers });
    return body.text();
  };

/** As libraries on node:http follow: by a new request, made where the response is handled. */
const nodeHttp: Follow = (url, headers) =>
  new Promise((resolve, reject) => {
    http
      .get(url, { headers }, (response) => {
        const { location } = response.headers;
        response.setEncoding('utf8');
        let text = '';
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          if (location === undefined) resolve(text);
          else nodeHttp(new URL(location, url).href, headers).then(resolve, reject);
        });
      })
      .on('error', reject);
  });

const WAYS: ReadonlyArray<readonly [string, Follow]> = [
  ['global fetch', async (url, headers) => (await fetch(url, { headers })).text()],
  ['undici 6 fetch', async (url, headers) => (await undici6.fetch(url, { headers })).text()],
  ['undici 8 fetch', async (url, headers) => (await undici8.fetch(url, { headers })).text()],
  ['undici 6 request', request(undici6 as never)],
  ['undici 7 request', request(undici7)],
  ['undici 8 request', request(undici8 as never)],
  ['node:http', nodeHttp],
];

const ASKS = { accept: 'text/event-stream', 'last-event-id': '41' };
const EVENT = 'id: 42\ndata: a\n\n';

let timeline: RecordingTimeline;
let recorder: RecordingRecorder;
let timers: Set<() => void>;
let clock: number;
let stopTap: StopTap;
let server: Loopback;

const routes: RequestListener = (req, res) => {
  const hop = /^\/hop\/(\d+)$/.exec(req.url ?? '')?.[1];
  if (hop === undefined) {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(EVENT);
    return;
  }
  const location = hop === '0' ? '/feed?room=7' : `${server.origin}/hop/${Number(hop) - 1}`;
  res.writeHead(307, { location });
  res.end('elsewhere');
};

beforeEach(async () => {
  timeline = new RecordingTimeline('client');
  recorder = new RecordingRecorder();
  timers = new Set();
  clock = 0;
  server = await loopback(routes);
  stopTap = startClientTap({
    timeline,
    recorder,
    now: () => clock,
    later: (callback) => {
      timers.add(callback);
      return () => timers.delete(callback);
    },
  });
});

afterEach(async () => {
  stopTap();
  await server.close();
});

describe.each(WAYS)('%s', (_, follow) => {
  test('L6: the hops of a redirect are one attempt', async () => {
    expect(await follow(`${server.origin}/hop/2`, ASKS)).toBe(EVENT);
    await timeline.untilOver(1);
    expect(timeline.connections).toHaveLength(1);
    expect(timeline.connections[0]?.request.target).toBe('/hop/2');
    expect(timeline.connections[0]?.steps).toEqual([
      'open',
      'redirect /hop/1',
      'redirect /hop/0',
      'redirect /feed?room=7',
      'response 200',
      'end eof',
    ]);
    expect(timeline.connections[0]?.text).toBe(EVENT);
    expect(timers.size).toBe(0);
  });

  test('a request for the same URL with another cursor is another attempt', async () => {
    const [one, other] = await Promise.all([
      follow(`${server.origin}/hop/0`, ASKS),
      follow(`${server.origin}/feed?room=7`, { ...ASKS, 'last-event-id': '7' }),
    ]);
    expect([one, other]).toEqual([EVENT, EVENT]);
    await timeline.untilOver(2);
    const cursors = timeline.connections.map(({ request, steps }) => [
      request.header('last-event-id'),
      steps.length,
    ]);
    expect(cursors.sort()).toEqual([
      ['41', 4],
      ['7', 3],
    ]);
  });
});

describe('a redirect that nobody follows', () => {
  const manually = { headers: ASKS, redirect: 'manual' } as const;

  test('is the answer, once the next hop would have come', async () => {
    await (await fetch(`${server.origin}/hop/0`, manually)).text();
    expect(timeline.connections[0]?.steps).toEqual(['open']);
    for (const callback of [...timers]) callback();
    expect(timeline.connections[0]?.steps).toEqual(['open', 'response 307']);
    expect(recorder.noStreams.size).toBe(1);
  });

  test('does not take in a request for the same URL that comes much later', async () => {
    await (await fetch(`${server.origin}/hop/0`, manually)).text();
    clock += 2001;
    await (await fetch(`${server.origin}/feed?room=7`, { headers: ASKS })).text();
    await timeline.untilOver(1);
    expect(timeline.connections).toHaveLength(2);
    expect(timeline.connections[0]?.steps).toEqual(['open']);
  });

  test('is the answer at once when too many others are waiting', async () => {
    for (let i = 0; i < 65; i += 1) {
      await (await fetch(`${server.origin}/hop/0`, manually)).text();
    }
    expect(timeline.connections).toHaveLength(65);
    expect(timeline.connections[63]?.steps).toEqual(['open']);
    expect(timeline.connections[64]?.steps).toEqual(['open', 'response 307']);
    expect(timers.size).toBe(64);
  });

  test('ends with the tap', async () => {
    await (await fetch(`${server.origin}/hop/0`, manually)).text();
    stopTap();
    expect(timers.size).toBe(0);
    expect(timeline.connections[0]?.steps).toEqual(['open', 'end aborted']);
  });
});

test.each(['http://[', undefined])(
  'a redirect to %s leads nowhere, so it is the answer',
  async (to) => {
    const odd = await loopback((_req, res) => {
      res.writeHead(302, to === undefined ? {} : { location: to });
      res.end();
    });
    try {
      http.get(odd.origin, { headers: ASKS }, (response) => response.resume());
      await timeline.until(() => timeline.connections[0]?.steps.length === 2);
      expect(timeline.connections[0]?.steps).toEqual(['open', 'response 302']);
      expect(timers.size).toBe(0);
    } finally {
      await odd.close();
    }
  },
);
