import type { IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import { loopback } from '@sameriver/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WebSocket as Socket } from 'ws';
import { WebSocketServer } from 'ws';
import { chaos } from './chaos.ts';
import { churn } from './churn.ts';
import { collect } from './steady.ts';
import type { Watch } from './watch.ts';
import { watchVerdicts } from './watch.ts';

/* The short form of `npm run soak`. */

test('churn: no verdict of a thousand connections is wrong', { timeout: 120_000 }, async () => {
  const result = await churn({
    connections: 1000,
    readers: 32,
    seed: 7,
    checkpointEvery: 500,
    checkpoint: () => {},
  });
  expect(result.faults).toEqual([]);
  expect(result.truths).toMatchObject({
    continues: expect.any(Number),
    other_log: expect.any(Number),
  });
  expect(result.verdicts['client resumed']).toBeGreaterThan(0);
  expect(result.verdicts['client reoriginated']).toBeGreaterThan(0);
});

test('chaos: HAProxy kills instances, and nothing is called resumed that is not', {
  timeout: 180_000,
}, async () => {
  const result = await chaos({ milliseconds: 4000, readers: 12, seed: 3 });
  expect(result.faults).toEqual([]);
  expect(result.kills).toBeGreaterThan(0);
  expect(result.reconnects).toBeGreaterThan(0);
});

describe('a stream that is over is held by nobody', () => {
  const STREAMS = 50;
  /** A parser, a socket or the last answer of each may be kept by Node for the next request. */
  const KEPT_BY_NODE = 5;
  let watch: Watch;
  beforeAll(() => {
    watch = watchVerdicts(() => {});
  });
  afterAll(() => watch.disable());

  async function expectCollected(
    held: readonly WeakRef<object>[],
    connections: number,
  ): Promise<void> {
    expect(held.length).toBeGreaterThanOrEqual(connections);
    const alive = (): number => held.filter((ref) => ref.deref() !== undefined).length;
    for (let turns = 0; turns < 50 && alive() > KEPT_BY_NODE; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect(alive()).toBeLessThanOrEqual(KEPT_BY_NODE);
  }

  const serve =
    (held: WeakRef<object>[]) => (request: IncomingMessage, response: ServerResponse) => {
      held.push(new WeakRef(request), new WeakRef(response));
      response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
      response.write('id: 1\ndata: one\n\n');
      response.end('id: 2\ndata: two\n\n');
    };

  test('read by fetch, served by node:http', async () => {
    const held: WeakRef<object>[] = [];
    const server = await loopback(serve(held));
    for (let n = 0; n < STREAMS; n += 1) {
      const headers = { accept: 'text/event-stream', 'last-event-id': '1' };
      const response = await fetch(`${server.origin}/${n % 3}`, { headers });
      held.push(new WeakRef(response));
      await response.text();
    }
    await server.close();
    await expectCollected(held, 3 * STREAMS);
  });

  test('read by node:http', async () => {
    const held: WeakRef<object>[] = [];
    const server = await loopback(serve(held));
    for (let n = 0; n < STREAMS; n += 1) {
      await new Promise<void>((resolve, reject) => {
        const headers = { accept: 'text/event-stream', 'last-event-id': '1' };
        const request = http.get(`${server.origin}/${n % 3}`, { headers, agent: false });
        held.push(new WeakRef(request));
        request.on('error', reject);
        request.on('response', (response) => {
          held.push(new WeakRef(response));
          response.resume().on('end', resolve);
        });
      });
    }
    await server.close();
    await expectCollected(held, 4 * STREAMS);
  });

  test('a WebSocket of both ends', async () => {
    const held: WeakRef<object>[] = [];
    const server = await loopback(() => {});
    const sockets = new WebSocketServer({ server: server.server, clientTracking: false });
    sockets.on('connection', (socket: Socket) => {
      held.push(new WeakRef(socket));
      socket.send('{"id":1}');
      socket.close(1000);
    });
    for (let n = 0; n < STREAMS; n += 1) {
      await new Promise<void>((resolve) => {
        const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/${n % 3}`);
        held.push(new WeakRef(socket));
        socket.onclose = () => resolve();
      });
    }
    sockets.close();
    await server.close();
    await expectCollected(held, 2 * STREAMS);
  });
});
