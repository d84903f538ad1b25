import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as Ws from 'ws';
import type { Arrival } from './arrival.ts';
import { CannotSend } from './clients/client.ts';
import { countUp } from './count-up.ts';
import type { WireAnswer } from './wire-message.ts';

/** The server's end of an open WebSocket. */
export interface ScriptedSocket {
  /** Sends text or bytes as one message, and waits until the socket has taken it. */
  send(data: string | Uint8Array): Promise<void>;
  /** Resolves when that many messages of the client have come. */
  received(messages: number): Promise<void>;
  /** @param code `undefined`: a close frame that holds none. */
  close(code: number | undefined): void;
}

/** A request for a WebSocket, and the hand that answers it. */
export interface HandshakeArrival extends Arrival {
  /** Answers 101, with these headers beside those of the handshake. */
  accept(headers: Readonly<Record<string, string>>): ScriptedSocket;
  /** Answers with another status. */
  refuse(answer: WireAnswer): void;
  /** Closes the TCP connection without another byte. */
  hangUp(): void;
  /** Cuts the TCP connection with RST; the client must have read everything before. */
  reset(): void;
}

/** As the `upgrade` event of a server hands it over. */
interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

const PROTOCOL = 'sec-websocket-protocol';
const BODILESS = new Set([204, 304]);

export function handshakeArrival(arrival: Arrival, upgrade: Upgrade): HandshakeArrival {
  const { socket } = upgrade;
  // What happens to the connection is the transcript's doing.
  socket.on('error', () => {});
  socket.setNoDelay(true);
  return {
    ...arrival,
    accept: (headers) => scriptedSocket(open(upgrade, headers)),
    refuse: (answer) => {
      socket.end(refusal(answer));
    },
    hangUp: () => socket.destroy(),
    reset: () => socket.resetAndDestroy(),
  };
}

function open(upgrade: Upgrade, headers: Readonly<Record<string, string>>): Ws.WebSocket {
  const { request, socket, head } = upgrade;
  // By `require`, and for each connection: so it is seen by who has begun to watch it meanwhile.
  const { WebSocketServer } = createRequire(import.meta.url)('ws') as typeof Ws;
  const { [PROTOCOL]: protocol, ...others } = headers;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols: () => protocol ?? false,
  });
  // To a client that has offered none, `ws` names no protocol; the transcript may.
  const unasked = request.headers[PROTOCOL] === undefined ? headers : others;
  const lines = Object.entries(unasked).map(([name, value]) => `${name}: ${value}`);
  server.on('headers', (answer) => answer.push(...lines));
  let opened: Ws.WebSocket | undefined;
  server.handleUpgrade(request, socket, head, (webSocket) => {
    opened = webSocket;
  });
  if (opened === undefined) throw new CannotSend('the server library refuses this handshake');
  return opened;
}

function scriptedSocket(webSocket: Ws.WebSocket): ScriptedSocket {
  const messages = countUp();
  webSocket.on('error', () => {});
  webSocket.on('message', () => messages.add(1));
  return {
    send: (data) =>
      new Promise((resolve) => {
        webSocket.send(data, () => resolve());
      }),
    received: messages.reach,
    close: (code) => webSocket.close(code),
  };
}

function refusal({ status, headers, body = '' }: WireAnswer): Buffer {
  const bytes = Buffer.from(body, 'utf8');
  const length = BODILESS.has(status) ? {} : { 'content-length': String(bytes.length) };
  const fields = Object.entries({ ...headers, ...length, connection: 'close' });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unnamed'}\r\n`;
  return Buffer.concat([Buffer.from(`${statusLine}${lines}\r\n`, 'latin1'), bytes]);
}
