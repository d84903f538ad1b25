import { get } from 'node:http';
import type { TimelineStep } from '@sameriver/testkit';
import { loopback, RecordingHost } from '@sameriver/testkit';
import { expect, test } from 'vitest';
import { startClientTap } from './client-tap.ts';

const EVENT = 'id: 1\ndata: a\n\n';
const ACCEPT = { accept: 'text/event-stream' };

/** Reads a whole body by one of the two ways into this tap. */
type Read = (url: string) => Promise<string>;

const READERS: readonly (readonly [string, Read])[] = [
  ['fetch', async (url) => (await fetch(url, { headers: ACCEPT })).text()],
  [
    'node:http',
    (url) =>
      new Promise((resolve, reject) => {
        get(url, { headers: ACCEPT }, async (response) => {
          resolve(Buffer.concat(await response.toArray()).toString());
        }).on('error', reject);
      }),
  ],
];

/** One stream of four events; every timer elapses in its middle. */
async function exchange(host: RecordingHost, read: Read, path = '/'): Promise<string> {
  const server = await loopback((request, response) => {
    if (request.url === '/moved') {
      response.writeHead(307, { location: '/' }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(EVENT.repeat(2), () => {
      host.elapse();
      response.end(EVENT.repeat(2));
    });
  });
  const stop = startClientTap(host);
  try {
    return await read(server.origin + path);
  } finally {
    stop();
    await server.close();
  }
}

function failing(object: object, method: string): void {
  Object.defineProperty(object, method, {
    value: () => {
      throw new Error(`${method} was told to fail.`);
    },
  });
}

const STEPS: readonly TimelineStep[] = ['open', 'response', 'push', 'settled', 'end'];

for (const [name, read] of READERS) {
  test.each(STEPS)(
    `a timeline that fails at %s is counted, and ${name} reads it all`,
    async (step) => {
      const host = new RecordingHost('client');
      host.timeline.faults.add(step);
      expect(await exchange(host, read)).toBe(EVENT.repeat(4));
      expect(new Set(host.recorder.errors)).toEqual(new Set(['client_tap']));
      expect(host.timers.size).toBe(0);
    },
  );

  test.each(['now', 'later', 'ignore'])(
    `a host that fails at %s is counted, and ${name} reads it all`,
    async (method) => {
      const host = new RecordingHost('client');
      failing(host, method);
      expect(await exchange(host, read)).toBe(EVENT.repeat(4));
      expect(new Set(host.recorder.errors)).toEqual(new Set(['client_tap']));
    },
  );

  test.each(['opened', 'attemptContext', 'carriedBy', 'notStream', 'instrumentationError'])(
    `a recorder that fails at %s stays unnoticed by ${name}`,
    async (method) => {
      const host = new RecordingHost('client');
      host.timeline.faults.add('push');
      failing(host.recorder, method);
      expect(await exchange(host, read)).toBe(EVENT.repeat(4));
      expect(host.timeline.connections[0]?.steps.at(-1)).toBe('end aborted');
    },
  );

  test(`what was opened is ended as aborted in the middle of what ${name} reads`, async () => {
    const host = new RecordingHost('client');
    host.timeline.faults.add('push');
    await exchange(host, read);
    const [connection] = host.timeline.connections;
    expect(connection?.steps).toEqual(['open', 'response 200', 'end aborted']);
    expect(connection?.text).toBe('');
  });

  test(`a recorder that fails at noResponse stays unnoticed by ${name}`, async () => {
    const host = new RecordingHost('client');
    failing(host.recorder, 'noResponse');
    const gone = await loopback(() => {});
    await gone.close();
    const stop = startClientTap(host);
    await expect(read(`${gone.origin}/`)).rejects.toThrow();
    stop();
    expect(host.recorder.errors).toEqual(['client_tap']);
  });
}

test('L6: a timeline that fails at a redirect is counted, and fetch reads what it leads to', async () => {
  const host = new RecordingHost('client');
  host.timeline.faults.add('redirect');
  const [, fetched] = READERS[0] as (typeof READERS)[number];
  expect(await exchange(host, fetched, '/moved')).toBe(EVENT.repeat(4));
  expect(new Set(host.recorder.errors)).toEqual(new Set(['client_tap']));
});

test('a timeline that fails when its time is up is counted', async () => {
  const host = new RecordingHost('client');
  host.timeline.settles = false;
  host.timeline.faults.add('timeout');
  const [, fetched] = READERS[0] as (typeof READERS)[number];
  const server = await loopback((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    setImmediate(function wait() {
      if (host.timers.size === 0) return void setImmediate(wait);
      host.elapse();
      response.end(EVENT);
    });
  });
  const stop = startClientTap(host);
  expect(await fetched(`${server.origin}/`)).toBe(EVENT);
  stop();
  await server.close();
  expect(host.recorder.errors).toEqual(['client_tap']);
});
