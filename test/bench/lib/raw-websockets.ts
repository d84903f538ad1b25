import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';

const AT_ONCE = 100;
const HANDSHAKE = [
  'GET /ws HTTP/1.1',
  'Host: bench',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n');

/** Connections that have asked for a WebSocket and read what comes, and do nothing else. */
export async function openWebSockets(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const length = Math.min(AT_ONCE, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length }, () => openOne(port)))));
  }
  return sockets;
}

/** Sends `times` messages of `size` bytes on each, and waits until as many have come back. */
export async function echo(sockets: readonly Socket[], size: number, times: number): Promise<void> {
  await Promise.all(sockets.map((socket) => echoOne(socket, size, times)));
}

async function openOne(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(HANDSHAKE);
  await once(socket, 'data');
  socket.on('error', () => undefined);
  socket.resume();
  return socket;
}

function echoOne(socket: Socket, size: number, times: number): Promise<void> {
  const frames = Array.from({ length: times }, (_, seq) => frame(seq, size));
  // The echo is not masked, so it is shorter by the mask.
  const expected = frames.reduce((sum, { length }) => sum + length - 4, 0);
  return new Promise((resolve) => {
    let arrived = 0;
    const onData = (chunk: Buffer): void => {
      arrived += chunk.length;
      if (arrived < expected) return;
      socket.off('data', onData);
      resolve();
    };
    socket.on('data', onData);
    socket.write(Buffer.concat(frames));
  });
}

/** A text frame; the mask is zero, which leaves the payload as it is. */
function frame(seq: number, size: number): Buffer {
  const start = `{"seq":${seq},"t":"`;
  const payload = Buffer.from(`${start}${'x'.repeat(Math.max(0, size - start.length - 2))}"}`);
  const { length } = payload;
  const header =
    length < 126
      ? Buffer.from([0x81, 0x80 | length])
      : Buffer.from([0x81, 0xfe, length >> 8, length & 0xff]);
  return Buffer.concat([header, Buffer.alloc(4), payload]);
}
