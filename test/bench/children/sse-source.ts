// Sends event streams as raw HTTP/1.1, an event a chunk: GET /<pace>/<size>/<events>.
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { answer } from '../lib/child.ts';
import { smallEvent } from '../lib/event-streams.ts';

const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
/** Long enough for a reader to see one event at a time. */
const APART = 0.06;

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('data', (request) => {
    const asked = /^GET \/(spread|packed)\/(\d+)\/(\d+)/.exec(request.toString('latin1'));
    if (asked === null) return;
    const [, pace, size, events] = asked;
    void send(socket, pace === 'spread', Number(size), Number(events));
  });
});

async function send(socket: Socket, spread: boolean, size: number, events: number): Promise<void> {
  socket.write(HEAD);
  const chunks = Array.from({ length: events }, (_, n) => {
    const event = smallEvent(100_000 + n, size);
    return `${event.length.toString(16)}\r\n${event}\r\n`;
  });
  if (spread) {
    for (const chunk of chunks) {
      if (socket.destroyed) return;
      socket.write(chunk);
      await pause();
    }
  } else socket.write(chunks.join(''));
  socket.write('0\r\n\r\n');
}

/** Timers wait a millisecond at least. */
async function pause(): Promise<void> {
  const until = performance.now() + APART;
  do await new Promise((resolve) => setImmediate(resolve));
  while (performance.now() < until);
}

server.listen(0, '127.0.0.1', () => answer((server.address() as AddressInfo).port, {}));
