import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Arrival } from './arrival.ts';
import type { HandshakeArrival } from './handshake-arrival.ts';
import { handshakeArrival } from './handshake-arrival.ts';
import type { RequestArrival } from './request-arrival.ts';
import { requestArrival } from './request-arrival.ts';

/** Answers each request as its caller says, in order of arrival. */
export interface ScriptedServer {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** The next request, now or when it comes. */
  nextRequest(): Promise<RequestArrival>;
  /** The next request for a WebSocket. */
  nextHandshake(): Promise<HandshakeArrival>;
  /** The same, unless `end` comes first. */
  nextHandshakeBefore(end: Promise<void>): Promise<HandshakeArrival | undefined>;
  /** Cuts what is still open. */
  close(): Promise<void>;
}

/** A cursor or an echo may be as long as its application likes; Node's 16 KiB would refuse it. */
const MAX_HEADER_BYTES = 1 << 20;

/** Listens on a free port of the loopback interface. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests = createQueue<RequestArrival>();
  const handshakes = createQueue<HandshakeArrival>();
  // A server no longer knows the sockets that it has handed over for an upgrade.
  const upgraded = new Set<Socket>();
  const server = createServer(
    { noDelay: true, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => {
      request.resume();
      requests.put(requestArrival(arrivalOf(request), response));
    },
  );
  server.on('upgrade', (request, stream, head) => {
    const socket = stream as Socket;
    upgraded.add(socket.once('close', () => upgraded.delete(socket)));
    handshakes.put(handshakeArrival(arrivalOf(request), { request, socket, head }));
  });
  const origin = await listen(server);
  return {
    origin,
    nextRequest: requests.take,
    nextHandshake: handshakes.take,
    nextHandshakeBefore: handshakes.takeBefore,
    close: async () => {
      for (const socket of upgraded) socket.destroy();
      await shut(server);
    },
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

async function shut(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

function arrivalOf(request: IncomingMessage): Arrival {
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
  };
}

interface Queue<Item> {
  put(item: Item): void;
  take(): Promise<Item>;
  takeBefore(end: Promise<void>): Promise<Item | undefined>;
}

function createQueue<Item>(): Queue<Item> {
  const waiting = new Set<(item: Item) => void>();
  const arrived: Item[] = [];
  const take = (): Promise<Item> => {
    const item = arrived.shift();
    if (item !== undefined) return Promise.resolve(item);
    return new Promise((resolve) => waiting.add(resolve));
  };
  return {
    put: (item) => {
      const [waiter] = waiting;
      if (waiter === undefined) {
        arrived.push(item);
        return;
      }
      waiting.delete(waiter);
      waiter(item);
    },
    take,
    takeBefore: (end) =>
      new Promise((resolve) => {
        const item = arrived.shift();
        if (item !== undefined) {
          resolve(item);
          return;
        }
        waiting.add(resolve);
        void end.then(() => {
          waiting.delete(resolve);
          resolve(undefined);
        });
      }),
  };
}
