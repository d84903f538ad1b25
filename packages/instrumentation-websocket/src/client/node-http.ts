import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Context } from '@opentelemetry/api';
import { context } from '@opentelemetry/api';
import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import {
  activeHttpSpan,
  headerLookup,
  httpAttributes,
  standBeforeHttp,
  subscribeAll,
} from '@sameriver/telemetry';
import type { FollowedSocket } from '../followed-socket.ts';
import { isHandshake } from '../is-handshake.ts';
import type { Sockets } from '../sockets.ts';
import { watchWs } from '../ws-copies.ts';
import type { WsSocket } from '../ws-patch.ts';
import { tellStatus } from './answered-span.ts';
import { errorTypeOf } from './error-type.ts';
import { HttpEntry } from './http-entry.ts';
import { handshakeOf } from './http-request.ts';
import { Redirects } from './redirects.ts';
import { unwatch, watchRequest } from './watch-request.ts';

interface Asked {
  readonly socket: FollowedSocket;
  /** The caller's context, where our own was in force as the request was made. */
  readonly listeners: Context | undefined;
}

/** Follows WebSockets that `ws` opens by a request of node:http or node:https. */
export class NodeHttpTap {
  readonly #sockets: Sockets;
  readonly #requests = new WeakMap<object, Asked>();
  /** Also those that are not followed. */
  readonly #known = new WeakSet<object>();
  /** Answers with 101 that nobody has made a WebSocket of. */
  readonly #answers = new WeakMap<object, FollowedSocket>();
  readonly #headers = new WeakMap<FollowedSocket, HeaderLookup>();
  readonly #redirects = new Redirects();
  readonly #entry: HttpEntry;
  readonly #undo: readonly (() => void)[];

  constructor(sockets: Sockets) {
    this.#sockets = sockets;
    this.#entry = new HttpEntry(sockets, (request) => this.#continued(request));
    this.#undo = [
      subscribeAll({
        // In the caller's context; `start` comes later and stands in where there is no `created`.
        'http.client.request.created': (message) => this.#onRequest(message),
        'http.client.request.start': (message) => this.#onRequest(message),
        'http.client.request.error': (message) => this.#onError(message),
        // In spite of its name: the head of the response is in.
        'http.client.response.finish': (message) => this.#onResponse(message),
      }),
      watchWs({
        switched: (response) => this.#switched(response),
        opened: (socket, followed) => this.#opened(socket, followed),
      }),
    ];
  }

  stop(): void {
    for (const undo of this.#undo) undo();
    this.#entry.stop();
  }

  #onRequest(message: unknown): void {
    const { request } = message as { request: ClientRequest };
    // Every request of the process comes by here: one look-up, and no more.
    if (!isHandshake(request.getHeader('upgrade')) || this.#known.has(request)) return;
    this.#known.add(request);
    this.#sockets.safely(() => this.#begin(request));
  }

  #begin(request: ClientRequest): void {
    const entered = this.#entry.take(request);
    const socket = entered === undefined ? this.#late(request) : entered.socket;
    if (socket === undefined) return;
    watchRequest(request, socket, {
      comes: (response) => this.#upgradeComes(request, socket, response),
      came: (response) => this.#leaveToOthers(response),
    });
    this.#requests.set(request, { socket, listeners: entered?.listeners });
  }

  #late(request: ClientRequest): FollowedSocket | undefined {
    const asked = handshakeOf(request);
    const continued = this.#continued(asked);
    if (continued !== undefined) return continued;
    const httpSpan = activeHttpSpan();
    // Its span is made already, above ours. From the next handshake on it shall be below.
    if (httpSpan !== undefined) standBeforeHttp(request.protocol);
    return this.#sockets.open(request, asked, {
      context: context.active(),
      attributes: httpAttributes(asked.method, asked.origin),
      ...(httpSpan === undefined ? {} : { httpSpan }),
    });
  }

  #continued(request: StreamRequest): FollowedSocket | undefined {
    const socket = this.#redirects.take(request);
    socket?.redirected(request);
    return socket;
  }

  #onError(message: unknown): void {
    const { request, error } = message as { request: ClientRequest; error: unknown };
    const asked = this.#requests.get(request);
    if (asked === undefined) return;
    this.#requests.delete(request);
    unwatch(request);
    asked.socket.failed(errorTypeOf(error));
  }

  #onResponse(message: unknown): void {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    const asked = this.#requests.get(request);
    if (asked === undefined) return;
    this.#requests.delete(request);
    unwatch(request);
    this.#sockets.safely(() => {
      const { socket, listeners } = asked;
      const status = response.statusCode ?? 0;
      const header = headerLookup(response.rawHeaders);
      if (listeners !== undefined) context.bind(listeners, response);
      this.#redirects.hold(socket, handshakeOf(request), { status, header }, () => {
        tellStatus(this.#sockets, socket, status);
        socket.answered(status, header);
      });
    });
  }

  #upgradeComes(request: ClientRequest, socket: FollowedSocket, response: IncomingMessage): void {
    this.#requests.delete(request);
    this.#answers.set(response, socket);
  }

  #switched(response: IncomingMessage): FollowedSocket | undefined {
    const socket = this.#answers.get(response);
    if (socket === undefined) return undefined;
    this.#answers.delete(response);
    this.#headers.set(socket, headerLookup(response.rawHeaders));
    return socket;
  }

  #opened({ _isServer }: WsSocket, socket: FollowedSocket | undefined): FollowedSocket | undefined {
    const header = socket && this.#headers.get(socket);
    if (_isServer === true || socket === undefined || header === undefined) return undefined;
    this.#headers.delete(socket);
    this.#sockets.safely(() => tellStatus(this.#sockets, socket, 101));
    socket.answered(101, header);
    return socket;
  }

  /** Another library than `ws` has taken the connection over: nothing more is seen of it. */
  #leaveToOthers(response: IncomingMessage): void {
    this.#answers.get(response)?.stop();
    this.#answers.delete(response);
  }
}
