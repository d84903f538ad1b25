import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Profile, StreamReport } from '@sameriver/core';
import { WebSocketInstrumentation } from '@sameriver/instrumentation-websocket';
import type { IssuedRecord, KnownIssuers, OriginIndex } from '@sameriver/telemetry';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

const feed: Profile = {
  name: 'feed',
  match: { path: '^/feed' },
  messages: 'json',
  cursor: { sent: ['query:since'], received: ['json:/id'], codec: 'int' },
  epoch: { received: ['json:/log'] },
};

/** Hears what this process issues, and knows one other that has issued 4000 to 4140. */
class Index implements OriginIndex {
  readonly told: IssuedRecord[] = [];

  async issued(records: readonly IssuedRecord[]): Promise<void> {
    this.told.push(...records);
  }

  async issuersOf(): Promise<KnownIssuers> {
    const epoch = { digest: 'f'.repeat(16), text: 'log-a' };
    const ids = { runs: [[4_000, 4_140] as const], tags: [] };
    const other = { issuer: 'another.1', instance: 'a', epoch, writtenAgo: 10, ids };
    return { issuers: [other], unreadable: 0 };
  }
}

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

it('X1: a WebSocket whose log names another epoch and falls back is told from where its reader comes', async () => {
  const index = new Index();
  const judged = Promise.withResolvers<StreamReport>();
  const instrumentation = new WebSocketInstrumentation({
    client: false,
    profiles: [feed],
    originIndex: index,
    reportHook: (report) => {
      if (report.verdict !== undefined) judged.resolve(report);
    },
  });
  closing.push(() => instrumentation.disable());
  const http = createServer().listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server: http });
  closing.push(() => {
    sockets.close();
    http.close();
  });
  sockets.on('connection', (socket) => {
    for (const id of [13, 14, 15]) socket.send(JSON.stringify({ id, log: 'log-b' }));
  });
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const reader = new WebSocket(`ws://127.0.0.1:${port}/feed?since=4118`);
  closing.push(() => reader.terminate());
  const opened = once(reader, 'open');
  expect(await judged.promise).toMatchObject({
    verdict: { classification: 'reoriginated', reason: 'epoch_changed' },
    missed: 'unknown',
    origin: { instance: 'a', newest: 4_140, eventsAfter: 22 },
  });
  await opened;
  reader.close();
  await once(reader, 'close');
  instrumentation.disable();
  expect(index.told.map(({ epoch, ids }) => [epoch?.text, ids.runs])).toContainEqual([
    'log-b',
    [[13, 15]],
  ]);
});
