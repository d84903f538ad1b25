import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';
import type { TimelineStep } from '@sameriver/testkit';
import { loopback, RecordingHost } from '@sameriver/testkit';
import { expect, test } from 'vitest';
import { startServerTap } from './server-tap.ts';

const SSE = { 'content-type': 'text/event-stream' };
const EVENT = 'id: 1\ndata: a\n\n';

/** A response of four events over HTTP/1.1, as the client sees it; every timer elapses meanwhile. */
async function stream(host: RecordingHost, path: '/plain' | '/gzip' | '/json'): Promise<string> {
  const server = await loopback((req, res) => {
    if (req.url === '/json') {
      res.writeHead(200, { 'content-type': 'application/json' }).end(EVENT.repeat(4));
      return;
    }
    const gzip = req.url === '/gzip' ? createGzip() : undefined;
    res.writeHead(200, gzip === undefined ? SSE : { ...SSE, 'content-encoding': 'gzip' });
    host.elapse();
    gzip?.pipe(res);
    const body = gzip ?? res;
    for (let i = 0; i < 3; i += 1) body.write(EVENT);
    body.end(EVENT);
  });
  try {
    return await (await fetch(server.origin + path)).text();
  } finally {
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

const STEPS: TimelineStep[] = ['open', 'response', 'push', 'timeout', 'end', 'settled'];

test.each(STEPS)(
  'a timeline that fails at %s is counted, and the client gets it all',
  async (step) => {
    const host = new RecordingHost('server');
    host.timeline.faults.add(step);
    const stop = startServerTap(host);
    expect(await stream(host, '/plain')).toBe(EVENT.repeat(4));
    stop();
    expect(host.recorder.errors).toEqual(['server_tap']);
    expect(host.timers.size).toBe(0);
  },
);

test('a timeline that fails at wants is counted, and the client gets it all', async () => {
  const host = new RecordingHost('server');
  host.timeline.faults.add('wants');
  const stop = startServerTap(host);
  expect(await stream(host, '/json')).toBe(EVENT.repeat(4));
  stop();
  expect(host.recorder.errors).toEqual(['server_tap']);
});

test.each<TimelineStep>(['response', 'push', 'settled', 'timeout'])(
  'what was opened is ended as aborted when the timeline fails at %s, and hears no more',
  async (step) => {
    const host = new RecordingHost('server');
    host.timeline.faults.add(step);
    const stop = startServerTap(host);
    await stream(host, '/plain');
    stop();
    const [connection] = host.timeline.connections;
    expect(connection?.steps.filter((it) => it.startsWith('end'))).toEqual(['end aborted']);
    expect(connection?.text.length).toBeLessThan(EVENT.length * 4);
  },
);

test('a failure while a compressed body is decoded is counted, and the client gets it all', async () => {
  const host = new RecordingHost('server');
  host.timeline.faults.add('push');
  const stop = startServerTap(host);
  expect(await stream(host, '/gzip')).toBe(EVENT.repeat(4));
  await host.timeline.untilOver(1);
  stop();
  expect(host.recorder.errors).toEqual(['server_tap']);
});

test.each(['now', 'later', 'ignore'])('a host that fails at %s is counted', async (method) => {
  const host = new RecordingHost('server');
  failing(host, method);
  const stop = startServerTap(host);
  expect(await stream(host, '/plain')).toBe(EVENT.repeat(4));
  expect(host.recorder.errors).toEqual(['server_tap']);
  stop();
});

test.each(['opened', 'instrumentationError'])(
  'a recorder that fails at %s stays unnoticed',
  async (method) => {
    const host = new RecordingHost('server');
    host.timeline.faults.add('push');
    failing(host.recorder, method);
    const stop = startServerTap(host);
    expect(await stream(host, '/plain')).toBe(EVENT.repeat(4));
    stop();
    expect(host.timeline.connections[0]?.steps.at(-1)).toBe('end aborted');
  },
);

test('a failure over HTTP/2 is counted, and the client gets it all', async () => {
  const host = new RecordingHost('server');
  const stop = startServerTap(host);
  for (const step of ['response', 'push', 'end'] as const) {
    host.timeline.faults.clear();
    host.timeline.faults.add(step);
    const server = http2.createServer((_, res) => {
      res.writeHead(200, SSE);
      res.write(EVENT);
      res.end(EVENT);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const body = Buffer.concat(await session.request({ ':path': '/' }).toArray()).toString();
    session.close();
    server.close();
    expect([step, body]).toEqual([step, EVENT + EVENT]);
  }
  stop();
  expect(host.recorder.errors).toEqual(['server_tap', 'server_tap', 'server_tap']);
});
