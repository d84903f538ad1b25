// A server of event streams that sends what it is told to.
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, memoryNow } from '../lib/child.ts';
import { cpuNow } from '../lib/interleave.ts';

interface Order {
  /** Events for each stream. */
  readonly times: number;
  /** Bytes of an event. */
  readonly size: number;
  readonly ids?: 'integer' | 'opaque';
}

const streams = new Set<ServerResponse>();
let opened = 0;
let tick = 0;
let mark = { opened: 0, cpu: 0 };

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(': hi\n\n');
  streams.add(response);
  opened++;
  response.on('close', () => streams.delete(response));
});
server.requestTimeout = 0;
server.headersTimeout = 0;

async function send({ times, size, ids = 'integer' }: Order) {
  const pad = 'x'.repeat(Math.max(0, size - 42));
  const prefix = ids === 'integer' ? '' : '01JDZ0V8K5-9f8b7c6d-';
  const targets = [...streams];
  const cpu = cpuNow();
  const started = performance.now();
  for (let n = 0; n < times; n++) {
    tick++;
    for (const response of targets) {
      response.write(`id: ${prefix}${100_000 + tick}\ndata: {"n":${tick},"t":"${pad}"}\n\n`);
    }
    await new Promise((resolve) => setImmediate(resolve));
    for (const response of targets) if (response.writableNeedDrain) await drained(response);
  }
  await Promise.all(targets.map((response) => flushed(response)));
  const events = times * targets.length;
  return { cpu: (cpuNow() - cpu) / events, wall: (1e6 * (performance.now() - started)) / events };
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}

function flushed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.write(': end\n\n', () => resolve());
  });
}

const questions = {
  send,
  mark: () => {
    mark = { opened, cpu: cpuNow() };
  },
  /** Nanoseconds for each connection since the mark, and how many are open still. */
  sinceMark: () => ({ cpu: (cpuNow() - mark.cpu) / (opened - mark.opened), open: streams.size }),
  memory: () => ({ ...memoryNow(), open: streams.size }),
  spans: () => (globalThis as { benchSpans?: { spans: number } }).benchSpans?.spans ?? 0,
};

export type ServerQuestions = typeof questions;

server.listen(0, '127.0.0.1', 4096, () => {
  answer((server.address() as AddressInfo).port, questions);
});
