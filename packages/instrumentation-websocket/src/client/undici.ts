import { context } from '@opentelemetry/api';
import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import type { Method, Original } from '@sameriver/telemetry';
import {
  headerLookup,
  httpAttributes,
  Interposed,
  splitTarget,
  subscribeAll,
} from '@sameriver/telemetry';
import type { FollowedSocket } from '../followed-socket.ts';
import { isHandshake } from '../is-handshake.ts';
import type { Sockets } from '../sockets.ts';
import { tellStatus } from './answered-span.ts';
import { errorTypeOf } from './error-type.ts';
import { PendingHandshakes } from './pending-handshakes.ts';
import { scopePublications } from './publish-scope.ts';
import type { WebSocketLike } from './undici-classes.ts';
import { addWebSocketClass, follow, followedAs, watchWebSockets } from './undici-classes.ts';

/** The members of undici's request (6 to 8) that are read. */
interface UndiciRequest {
  readonly method: string;
  /** A string, or a URL where the caller of a dispatcher gave one. */
  readonly origin: unknown;
  readonly path: string;
  readonly headers: unknown;
  readonly upgrade?: unknown;
}

interface UndiciResponse {
  readonly statusCode: number;
  readonly headers: unknown;
}

interface OpenMessage {
  /** From undici 7 on. */
  readonly websocket?: WebSocketLike;
  /** From undici 7.14 on. */
  readonly handshakeResponse?: { readonly headers?: unknown };
  readonly protocol?: unknown;
}

interface AnswerHearer {
  heard(headers: unknown): void;
}

// Few versions of undici publish an answer with 101, whose headers are evidence.
const answers = new Interposed<AnswerHearer>({
  onUpgrade: watchAnswer,
  onRequestUpgrade: watchAnswer,
});

function watchAnswer(
  original: Original,
  hearerOf: (request: object) => AnswerHearer | undefined,
): Method {
  return function answered(this: object, ...args: unknown[]) {
    hearerOf(this)?.heard(args[1]);
    return original().apply(this, args);
  };
}

/**
 * Follows what goes through undici: the global WebSocket and that of npm's undici. No channel
 * tells of messages, and only the newer ones which WebSocket a request belongs to.
 */
export class UndiciTap {
  readonly #sockets: Sockets;
  readonly #pending: PendingHandshakes;
  /** Also those that are not followed. */
  readonly #known = new WeakSet<object>();
  readonly #undo: readonly (() => void)[];
  /** Of undici 6: what it said of the WebSocket that is about to open. */
  #announced: HeaderLookup | undefined;

  constructor(sockets: Sockets) {
    this.#sockets = sockets;
    this.#pending = new PendingHandshakes();
    this.#undo = [
      scopePublications('undici:request:create', (message) => this.#enter(message)),
      subscribeAll({
        'undici:request:create': (message) => this.#onCreate(message),
        'undici:request:headers': (message) => this.#onHeaders(message),
        'undici:request:error': (message) => this.#onError(message),
        'undici:websocket:open': (message) => this.#onOpen(message as OpenMessage),
      }),
      watchWebSockets({
        opened: (socket) => this.#opened(socket),
        failed: (socket) => this.#pending.failed(socket),
      }),
    ];
  }

  stop(): void {
    for (const undo of this.#undo) undo();
  }

  #enter(message: unknown): ReturnType<Sockets['contextOf']> {
    const { request } = message as { request: UndiciRequest };
    if (!isHandshake(request.upgrade)) return undefined;
    this.#known.add(request);
    const socket = this.#sockets.safely(() => this.#begin(request));
    return socket && this.#sockets.contextOf(socket);
  }

  // Where something replaced `publish`, handshakes are still seen; only their HTTP spans stay apart.
  #onCreate(message: unknown): void {
    const { request } = message as { request: UndiciRequest };
    if (isHandshake(request.upgrade) && !this.#known.has(request)) this.#enter(message);
  }

  #begin(request: UndiciRequest): FollowedSocket | undefined {
    // Not before: the first look at it loads the runtime's undici.
    if (typeof globalThis.WebSocket === 'function') addWebSocketClass(globalThis.WebSocket);
    const asked = handshakeOf(request);
    const socket = this.#sockets.open(request, asked, {
      context: context.active(),
      attributes: httpAttributes(asked.method, asked.origin),
      // instrumentation-undici waits for a response that a WebSocket never has.
      endsHttpSpan: true,
    });
    if (socket === undefined) return undefined;
    const key = asked.header('sec-websocket-key');
    this.#pending.add(request, { socket, url: asked.origin + asked.target, key });
    answers.put(request, {
      heard: (headers) => {
        // The request stays for as long as its WebSocket does; what it hangs on to must not.
        answers.remove(request);
        this.#pending.answered(request, headerLookup(headers));
      },
    });
    return socket;
  }

  #onHeaders(message: unknown): void {
    const { request, response } = message as { request: UndiciRequest; response: UndiciResponse };
    if (!isHandshake(request.upgrade)) return;
    const { statusCode: status } = response;
    const header = headerLookup(response.headers);
    if (status === 101) {
      this.#pending.answered(request, header);
      return;
    }
    const socket = status < 200 ? undefined : this.#pending.refused(request);
    if (socket === undefined) return;
    this.#sockets.safely(() => {
      tellStatus(this.#sockets, socket, status);
      socket.answered(status, header);
    });
  }

  #onError(message: unknown): void {
    const { request, error } = message as { request: UndiciRequest; error: unknown };
    if (!isHandshake(request.upgrade)) return;
    // After a 101, the answer was not one that undici accepts.
    const errorType = this.#pending.isAnswered(request) ? 'handshake' : errorTypeOf(error);
    this.#pending.refused(request)?.failed(errorType);
  }

  #onOpen({ websocket, handshakeResponse, protocol }: OpenMessage): void {
    const header = headerLookup(
      handshakeResponse?.headers ?? { 'sec-websocket-protocol': protocol || undefined },
    );
    if (websocket === undefined) this.#announced = header;
    else this.#sockets.safely(() => this.#opensNow(websocket, header));
  }

  /** undici 7 and 8 tell of it after the listeners have heard, and with the answer. */
  #opensNow(websocket: WebSocketLike, header: HeaderLookup): void {
    addWebSocketClass(websocket.constructor as typeof WebSocket);
    let socket = followedAs(websocket);
    if (socket === undefined) {
      socket = this.#pending.take(websocket.url, header)?.socket;
      if (socket === undefined) return;
      follow(websocket, socket);
    }
    this.#answer(socket, header);
  }

  /** undici 6 tells of it before the listeners hear, and not of which WebSocket. */
  #opened(websocket: WebSocketLike): FollowedSocket | undefined {
    const announced = this.#announced;
    this.#announced = undefined;
    const pending = this.#pending.take(websocket.url, announced);
    if (pending === undefined) return undefined;
    if (announced !== undefined) this.#answer(pending.socket, pending.answer ?? announced);
    return pending.socket;
  }

  #answer(socket: FollowedSocket, header: HeaderLookup): void {
    this.#sockets.safely(() => {
      tellStatus(this.#sockets, socket, 101);
      socket.answered(101, header);
    });
  }
}

function handshakeOf(request: UndiciRequest): StreamRequest {
  const { origin, target } = splitTarget(String(request.origin), request.path);
  const header = headerLookup(request.headers);
  return { transport: 'websocket', method: request.method, origin, target, header };
}
