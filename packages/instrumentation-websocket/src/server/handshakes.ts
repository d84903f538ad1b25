import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Attributes, Context } from '@opentelemetry/api';
import { context, propagation, trace } from '@opentelemetry/api';
import type { StreamRequest } from '@sameriver/core';
import type { FollowedSocket } from '../followed-socket.ts';
import { isHandshake } from '../is-handshake.ts';
import type { Sockets } from '../sockets.ts';
import type { WsSocket } from '../ws-patch.ts';
import type { ResponseHead } from './response-head.ts';
import { readResponseHead } from './response-head.ts';

interface Handshake {
  readonly message: IncomingMessage;
  readonly request: StreamRequest;
  readonly context: Context;
  /** Milliseconds of the host's clock. */
  readonly arrivedAt: number;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  head: ResponseHead | undefined;
}

/** Handshakes that this process was asked for; each becomes a connection once it is answered. */
export class Handshakes {
  readonly #sockets: Sockets;
  // Keyed by the network socket: the one thing that every party to a handshake holds.
  readonly #bySocket = new WeakMap<object, Handshake>();
  #stopped = false;

  constructor(sockets: Sockets) {
    this.#sockets = sockets;
  }

  /** A request to upgrade came in; called again when a library is asked to handle it. */
  begin(message: IncomingMessage, socket: Duplex): void {
    if (!isHandshake(message.headers.upgrade) || this.#bySocket.has(socket)) return;
    this.#sockets.safely(() => {
      const handshake: Handshake = {
        message,
        request: describe(message),
        context: contextOf(message),
        arrivedAt: this.#sockets.host.now(),
        startTime: Date.now(),
        head: undefined,
      };
      this.#bySocket.set(socket, handshake);
      readResponseHead(socket, (head) => this.#answered(handshake, head));
    });
  }

  /** A library made a WebSocket of the network socket. */
  opened({ _isServer, _socket }: WsSocket): FollowedSocket | undefined {
    if (_isServer !== true || _socket === null || _socket === undefined) return undefined;
    const handshake = this.#bySocket.get(_socket);
    const head = handshake?.head;
    if (handshake === undefined || head === undefined) return undefined;
    // The request would live as long as the WebSocket.
    this.#bySocket.delete(_socket);
    return this.#sockets.safely(() => this.#open(handshake, head));
  }

  stop(): void {
    this.#stopped = true;
  }

  #answered(handshake: Handshake, head: ResponseHead): void {
    handshake.head = head;
    // Whose WebSocket it becomes shows in `opened`; a proxy's, for one, becomes nobody's here.
    if (this.#stopped || head.status === 101) return;
    this.#sockets.safely(() => this.#open(handshake, head));
  }

  #open(handshake: Handshake, head: ResponseHead): FollowedSocket | undefined {
    const { message, request, context: parent, arrivedAt, startTime } = handshake;
    const attributes = attributesOf(request, head.status);
    const start = { context: parent, startTime, attributes };
    const socket = this.#sockets.open(message, request, start, arrivedAt);
    socket?.answered(head.status, head.header);
    return socket;
  }
}

function describe(message: IncomingMessage): StreamRequest {
  return {
    transport: 'websocket',
    method: message.method ?? 'GET',
    origin: '',
    target: message.url ?? '',
    header: (name) => {
      const value = message.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
  };
}

/** The HTTP instrumentation makes no span for an upgrade, so nobody else has read the headers. */
function contextOf({ headers }: IncomingMessage): Context {
  const active = context.active();
  return trace.getSpanContext(active) === undefined ? propagation.extract(active, headers) : active;
}

function attributesOf({ method, target }: StreamRequest, status: number): Attributes {
  const mark = target.indexOf('?');
  return {
    'http.request.method': method,
    'http.response.status_code': status,
    'url.path': mark < 0 ? target : target.slice(0, mark),
  };
}
