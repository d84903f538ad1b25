import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';

const AT_ONCE = 200;

/** Connections that ask for an event stream and read it, and do nothing else. */
export async function openClients(
  port: number,
  count: number,
  path: (n: number) => string = () => '/sse',
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const first = sockets.length;
    const length = Math.min(AT_ONCE, count - first);
    const batch = Array.from({ length }, (_, i) => openClient(port, path(first + i)));
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

export async function closeClients(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(
    sockets.map(async (socket) => {
      if (socket.closed) return;
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    }),
  );
}

async function openClient(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n`);
  await once(socket, 'data');
  socket.on('error', () => undefined);
  socket.resume();
  return socket;
}
