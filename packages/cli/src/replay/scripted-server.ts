import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WireAnswer } from './wire-script.ts';

/** A request as it arrived, and the hand that answers it. */
export interface Arrival {
  readonly method: string;
  readonly target: string;
  readonly header: (name: string) => string | undefined;
  /** Sends status and headers; a body that is no event stream follows at once. */
  answer(answer: WireAnswer): void;
  /** Sends one chunk and waits until the socket has taken it. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the body as HTTP asks. */
  finish(): void;
  /** Closes the TCP connection without another byte. */
  hangUp(): void;
  /** Cuts the TCP connection with RST; the client must have read everything before. */
  reset(): void;
}

/** Answers each request as its caller says, in order of arrival. */
export interface ScriptedServer {
  readonly origin: string;
  /** The next request, now or when it comes. */
  next(): Promise<Arrival>;
  /** Cuts what is still open. */
  close(): Promise<void>;
}

/** A cursor or an echo may be as long as its application likes; Node's 16 KiB would refuse it. */
const MAX_HEADER_BYTES = 1 << 20;

/** Listens on a free port of the loopback interface. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const waiting: ((arrival: Arrival) => void)[] = [];
  const arrived: Arrival[] = [];
  const server = createServer(
    { noDelay: true, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => {
      request.resume();
      const arrival = toArrival(request, response);
      const waiter = waiting.shift();
      if (waiter === undefined) arrived.push(arrival);
      else waiter(arrival);
    },
  );
  const origin = await listen(server);
  return {
    origin,
    next: () => {
      const arrival = arrived.shift();
      if (arrival !== undefined) return Promise.resolve(arrival);
      return new Promise((resolve) => waiting.push(resolve));
    },
    close: () => shut(server),
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

function toArrival(request: IncomingMessage, response: ServerResponse): Arrival {
  // A client that leaves early closes the socket under a write; the player hears of it there.
  response.on('error', () => {});
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    answer: ({ status, headers, body }) => {
      response.sendDate = false;
      response.writeHead(status, headers);
      if (body !== undefined) response.write(body);
      else response.flushHeaders();
    },
    write: (bytes) =>
      new Promise((resolve) => {
        response.write(bytes, () => resolve());
      }),
    finish: () => response.end(),
    hangUp: () => response.socket?.destroy(),
    reset: () => response.socket?.resetAndDestroy(),
  };
}
