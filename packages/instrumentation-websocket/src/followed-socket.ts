import type {
  HeaderLookup,
  MessageCounter,
  MessageUse,
  StreamConnection,
  StreamRequest,
} from '@sameriver/core';
import type { TapHost } from '@sameriver/telemetry';
import { comparableOf, contentOf } from './message-data.ts';

/**
 * `counted`: nobody looks at messages any more, and they are counted here: the connection behind
 * is not touched, which for a thousand sockets would be a thousand cold caches.
 */
type Phase = 'requested' | 'open' | 'counted' | 'over';

/** A message that only counts: nothing of it is looked at. */
const UNSEEN = '';

/** Who follows WebSockets at one end of this process. */
export interface SocketOwner {
  readonly host: TapHost;
  /** The WebSocket is followed no further. */
  forget(socket: FollowedSocket): void;
}

/** What matters only until the handshake is answered. */
interface Asking {
  reason?: string;
  /** Sent in the first moment of an open WebSocket, before its handshake could be told. */
  readonly early: [data: unknown, isText: boolean][];
}

/**
 * One WebSocket, from the request of its handshake to its close, for either end of it. Every
 * method may be called at any time and none throws: a fault of ours ends the following of this one
 * WebSocket, is counted, and reaches nobody else.
 */
export class FollowedSocket implements MessageCounter {
  messages = 0;
  #phase: Phase = 'requested';
  /** The end whose messages are events: a server counts what it sends. */
  readonly #isServer: boolean;
  readonly connection: StreamConnection;
  readonly #owner: SocketOwner;
  #cancelTimer: (() => void) | undefined;
  #asking: Asking | undefined;

  constructor(owner: SocketOwner, connection: StreamConnection) {
    this.#isServer = connection.role === 'server';
    this.connection = connection;
    this.#owner = owner;
  }

  /** The handshake is not answered yet. */
  get isAsking(): boolean {
    return this.#phase === 'requested';
  }

  /** L6: the next hop of the same attempt. */
  redirected(request: StreamRequest): void {
    if (this.#phase === 'requested') this.#guard(() => this.connection.redirect(request));
  }

  /** The handshake is answered: by 101 when the WebSocket is open, else it was refused. */
  answered(status: number, header: HeaderLookup): void {
    if (this.#phase !== 'requested') return;
    this.#guard(() => {
      if (!this.connection.response(status, header)) {
        this.#finish();
        this.#owner.host.recorder.notStream(this.connection);
        return;
      }
      const { early = [] } = this.#asking ?? {};
      this.#phase = 'open';
      this.#asking = undefined;
      for (const message of early) this.sent(...message);
      if (this.connection.settled) return;
      this.#cancelTimer = this.#owner.host.later(() => this.#timeOut());
    });
  }

  /** Hot path: one message from the peer. */
  received(data: unknown, isText: boolean): void {
    if (this.#phase === 'counted') {
      if (!this.#isServer) this.messages++;
    } else if (this.#phase !== 'over') this.#tell(data, isText, 'message');
  }

  /** Hot path: one message that the library has accepted for sending. */
  sent(data: unknown, isText: boolean): void {
    if (this.#phase === 'counted') {
      if (this.#isServer) this.messages++;
    } else if (this.#phase === 'requested') {
      this.#asking ??= { early: [] };
      this.#asking.early.push([data, isText]);
    } else if (this.#phase === 'open') this.#tell(data, isText, 'sent');
  }

  /** The application lets go of its handshake; the error that follows will not tell that it did. */
  givenUp(reason: 'aborted' | 'timeout'): void {
    this.#asking ??= { early: [] };
    this.#asking.reason ??= reason;
  }

  /** The handshake came to nothing: an attempt, not a connection (R1). */
  failed(errorType: string): void {
    if (this.#phase !== 'requested') return;
    this.#guard(() => {
      const { host } = this.#owner;
      const reason = this.#asking?.reason ?? errorType;
      host.recorder.noResponse(this.connection, reason);
      this.#finish();
      this.connection.end(reason === 'aborted' ? 'aborted' : 'reset', host.now());
    });
  }

  /** @param code The close code; 1006 when the connection broke off. */
  closed(code: number): void {
    if (this.#phase === 'requested' || this.#phase === 'over') return;
    this.#guard(() => {
      this.#finish();
      this.connection.end(`close:${code}`, this.#owner.host.now());
    });
  }

  /** The tap is being switched off. */
  stop(): void {
    if (this.#phase === 'over') return;
    this.#guard(() => {
      this.#finish();
      this.connection.end('aborted', this.#owner.host.now());
    });
  }

  /** Something of ours went wrong on the way to this WebSocket. */
  fail(): void {
    if (this.#phase !== 'over') this.#breakDown();
  }

  #tell(data: unknown, isText: boolean, way: 'message' | 'sent'): void {
    try {
      const { connection } = this;
      const { reads } = connection;
      const isEvent = this.#isServer === (way === 'sent');
      const isRead = isEvent ? reads === 'messages' : readsRequests(connection, reads);
      if (isRead) connection[way](contentOf(data, isText));
      else if (!isEvent) return;
      else if (reads === 'nothing') connection[way](UNSEEN);
      else connection[way](comparableOf(data), isText);
      // Nothing to be counted here, and nothing to wait for but a reset that a client may still
      // read, which counts when the timeout has passed (R3).
      if (reads === 'member' && this.#cancelTimer === undefined) return;
      if (reads === 'messages' && (!this.#isServer || this.#cancelTimer === undefined)) return;
      if (!connection.settled) return;
      this.#clearTimer();
      if (connection.reads === 'nothing') this.#count();
    } catch {
      this.#breakDown();
    }
  }

  #count(): void {
    const { connection } = this;
    if (connection.countWith === undefined) return;
    connection.countWith(this);
    this.#phase = 'counted';
  }

  #timeOut(): void {
    this.#cancelTimer = undefined;
    if (this.#phase !== 'over') this.#guard(() => this.connection.timeout());
  }

  #finish(): void {
    this.#phase = 'over';
    this.#asking = undefined;
    this.#clearTimer();
    this.#owner.forget(this);
  }

  #clearTimer(): void {
    const cancel = this.#cancelTimer;
    this.#cancelTimer = undefined;
    cancel?.();
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch {
      this.#breakDown();
    }
  }

  /** A fault of ours: this WebSocket is followed no further, and what was open of it is closed. */
  #breakDown(): void {
    const { host } = this.#owner;
    const wasOver = this.#phase === 'over';
    attempt(() => host.recorder.instrumentationError(`${this.connection.role}_tap`));
    if (!wasOver) attempt(() => this.#finish());
    // Without it the connection would count as open for the life of the process.
    attempt(() => this.connection.end('aborted', host.now()));
  }
}

/** Messages of the client, at either end, may name streams and cursors. */
function readsRequests(connection: StreamConnection, reads: MessageUse): boolean {
  return connection.readsRequests ?? reads === 'messages';
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // What failed was counted when it failed first.
  }
}
