import type { ClientRequest } from 'node:http';
import type { Context } from '@opentelemetry/api';
import { context, trace } from '@opentelemetry/api';
import type { StreamRequest } from '@sameriver/core';
import type { HttpCaller, HttpProtocol, RequestFunction } from '@sameriver/telemetry';
import { addHttpCaller, httpAttributes } from '@sameriver/telemetry';
import type { FollowedSocket } from '../followed-socket.ts';
import type { Sockets } from '../sockets.ts';
import { handshakeIn } from './http-request.ts';

interface Entered {
  /** `undefined`: the handshake is not to be followed. */
  readonly socket: FollowedSocket | undefined;
  readonly caller: Context;
  /** `undefined` when nobody records spans. */
  readonly attempt: Context | undefined;
  taken: boolean;
}

interface EnteredAttempt {
  readonly socket: FollowedSocket | undefined;
  /** The caller's context, for a response that the HTTP instrumentation will not bind to it. */
  readonly listeners: Context | undefined;
}

/**
 * Opens attempts before the HTTP instrumentation makes its span, so that the span becomes a child
 * of the attempt's own.
 */
export class HttpEntry implements HttpCaller {
  readonly #sockets: Sockets;
  readonly #continued: (request: StreamRequest) => FollowedSocket | undefined;
  readonly #remove: () => void;
  #entered: Entered | undefined;

  /** @param continued The attempt of which this request is the next hop (L6). */
  constructor(sockets: Sockets, continued: (request: StreamRequest) => FollowedSocket | undefined) {
    this.#sockets = sockets;
    this.#continued = continued;
    this.#remove = addHttpCaller('websocket', this);
  }

  stop(): void {
    this.#remove();
  }

  call(
    _protocol: HttpProtocol,
    original: RequestFunction,
    self: unknown,
    args: unknown[],
  ): ClientRequest {
    // `get` may call `request`, and each of them may be wrapped more than once.
    if (this.#entered !== undefined) return original.apply(self, args);
    const asked = this.#sockets.safely(() => handshakeIn(args));
    if (asked === undefined) return original.apply(self, args);
    const entered = this.#enter(asked);
    this.#entered = entered;
    try {
      if (entered.attempt === undefined) return original.apply(self, args);
      const bound = connectingFor(entered.caller, args);
      return context.with(entered.attempt, () => original.apply(self, bound));
    } catch (error) {
      // Arguments that node:http refuses never become a request.
      entered.socket?.failed('_OTHER');
      throw error;
    } finally {
      this.#entered = undefined;
    }
  }

  /** The attempt that this new request belongs to, when it was opened on the way in. */
  take(request: ClientRequest): EnteredAttempt | undefined {
    const entered = this.#entered;
    if (entered === undefined || entered.taken) return undefined;
    entered.taken = true;
    const { socket, caller, attempt } = entered;
    if (socket === undefined || attempt === undefined) return { socket, listeners: undefined };
    // The HTTP instrumentation binds the listeners of the request to the context it found, which is
    // ours. Binding them to the caller's first makes its own binding a no-op.
    context.bind(caller, request);
    const span = trace.getActiveSpan();
    if (span === undefined || span === trace.getSpan(attempt)) return { socket, listeners: caller };
    this.#sockets.safely(() => this.#sockets.host.recorder.carriedBy(socket.connection, span));
    return { socket, listeners: undefined };
  }

  #enter(asked: StreamRequest): Entered {
    const caller = context.active();
    const attributes = httpAttributes(asked.method, asked.origin);
    const socket = this.#sockets.safely(
      () =>
        this.#continued(asked) ??
        // The claim on the request object, which does not exist yet, is laid on what was asked.
        this.#sockets.open(asked, asked, { context: caller, attributes }),
    );
    const attempt = socket && this.#sockets.contextOf(socket);
    return { socket, caller, attempt, taken: false };
  }
}

// What a WebSocket emits runs in the context in which its socket was connected; that is to be the
// caller's, not one that belongs to the handshake.
function connectingFor(caller: Context, args: readonly unknown[]): unknown[] {
  const [options, ...rest] = args;
  const { createConnection } = options as { readonly createConnection?: unknown };
  if (typeof createConnection !== 'function') return [...args];
  return [
    { ...(options as object), createConnection: context.bind(caller, createConnection) },
    ...rest,
  ];
}
