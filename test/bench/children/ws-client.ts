// A client that holds many WebSockets open, each echoing ten messages after it has opened.
import { createRequire } from 'node:module';
import type * as Ws from 'ws';
import { answer, memoryNow } from '../lib/child.ts';

interface Order {
  readonly port: number;
  /** Number of the first, for its path. */
  readonly from: number;
  readonly count: number;
  /** Whose WebSockets. */
  readonly by: 'ws' | 'global';
}

// By require, as a client in CommonJS has it: every hook sees that.
const { WebSocket: WsWebSocket } = createRequire(import.meta.url)('ws') as typeof Ws;

const AT_ONCE = 100;
const MESSAGES = 10;
const sockets = new Set<object>();

async function open({ port, from, count, by }: Order): Promise<void> {
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - opened);
    const urls = Array.from({ length }, (_, i) => `ws://127.0.0.1:${port}/ws/${from + opened + i}`);
    await Promise.all(urls.map((url) => (by === 'ws' ? followWs(url) : followGlobal(url))));
  }
}

function followWs(url: string): Promise<void> {
  const socket = new WsWebSocket(url, { perMessageDeflate: false });
  sockets.add(socket);
  return new Promise((resolve, reject) => {
    let received = 0;
    socket.on('error', reject);
    socket.on('open', () => ask((text) => socket.send(text)));
    socket.on('message', () => ++received === MESSAGES && resolve());
  });
}

function followGlobal(url: string): Promise<void> {
  const socket = new globalThis.WebSocket(url);
  sockets.add(socket);
  return new Promise((resolve, reject) => {
    let received = 0;
    socket.onerror = reject;
    socket.onopen = () => ask((text) => socket.send(text));
    socket.onmessage = () => void (++received === MESSAGES && resolve());
  });
}

function ask(send: (text: string) => void): void {
  for (let seq = 0; seq < MESSAGES; seq++) send(`{"seq":${seq}}`);
}

const questions = { open, memory: () => ({ ...memoryNow(), open: sockets.size }) };

export type WsClientQuestions = typeof questions;

answer(0, questions);
