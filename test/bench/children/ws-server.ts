// A server of WebSockets that echoes what it receives and sends what it is told to.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type * as Ws from 'ws';
import { answer, memoryNow } from '../lib/child.ts';
import { cpuNow } from '../lib/interleave.ts';

// By require, as a server in CommonJS has it: every hook sees that.
const { WebSocketServer } = createRequire(import.meta.url)('ws') as typeof Ws;

const sockets = new Set<Ws.WebSocket>();
let received = 0;
let mark = { received: 0, cpu: 0 };

const server = createServer();
const wss = new WebSocketServer({ server, perMessageDeflate: false });
wss.on('connection', (socket) => {
  sockets.add(socket);
  socket.on('message', (data, isBinary) => {
    received++;
    socket.send(data, { binary: isBinary });
  });
  socket.on('error', () => undefined);
  socket.on('close', () => sockets.delete(socket));
});

/** Sends `times` messages of `size` bytes to every socket. */
async function send({ times, size }: { times: number; size: number }) {
  const pad = 'x'.repeat(Math.max(0, size - 24));
  const targets = [...sockets];
  const cpu = cpuNow();
  for (let seq = 1; seq <= times; seq++) {
    const text = `{"seq":${seq},"t":"${pad}"}`;
    for (const socket of targets) socket.send(text);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(targets.map((socket) => new Promise((done) => socket.ping('', false, done))));
  return { cpu: (cpuNow() - cpu) / (times * targets.length) };
}

const questions = {
  send,
  mark: () => {
    mark = { received, cpu: cpuNow() };
  },
  /** Nanoseconds for each message echoed since the mark. */
  sinceMark: () => ({ cpu: (cpuNow() - mark.cpu) / (received - mark.received) }),
  memory: () => ({ ...memoryNow(), open: sockets.size }),
};

export type WsServerQuestions = typeof questions;

server.listen(0, '127.0.0.1', 4096, () => {
  answer((server.address() as AddressInfo).port, questions);
});
