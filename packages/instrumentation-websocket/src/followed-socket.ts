import type { HeaderLookup, StreamConnection, StreamRequest } from '@sameriver/core';
import type { TapHost } from '@sameriver/telemetry';
import { comparableOf, contentOf } from './message-data.ts';

type Phase = 'requested' | 'open' | 'over';

/** A message that only counts: nothing of it is looked at. */
const UNSEEN = '';

/**
 * One WebSocket, from the request of its handshake to its close, for either end of it. Every
 * method may be called at any time and none throws: a fault of ours ends the following of this one
 * WebSocket, is counted, and reaches nobody else.
 */
export class FollowedSocket {
  readonly connection: StreamConnection;
  readonly #host: TapHost;
  readonly #onOver: (socket: FollowedSocket) => void;
  #phase: Phase = 'requested';
  #cancelTimer: (() => void) | undefined;
  #reason: string | undefined;
  /** Sent in the first moment of an open WebSocket, before its handshake could be told. */
  #early: Parameters<FollowedSocket['sent']>[] | undefined;

  constructor(host: TapHost, connection: StreamConnection, onOver: (s: FollowedSocket) => void) {
    this.#host = host;
    this.connection = connection;
    this.#onOver = onOver;
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
        this.#host.recorder.notStream(this.connection);
        return;
      }
      this.#phase = 'open';
      for (const message of this.#early ?? []) this.sent(...message);
      this.#early = undefined;
      if (!this.connection.settled) this.#cancelTimer = this.#host.later(() => this.#timeOut());
    });
  }

  /** Hot path: one message from the peer. */
  received(data: unknown, isText: boolean): void {
    if (this.#phase === 'over') return;
    try {
      const { connection } = this;
      const { reads } = connection;
      if (reads === 'messages') connection.message(contentOf(data, isText));
      else if (connection.role === 'client') {
        connection.message(reads === 'nothing' ? UNSEEN : comparableOf(data));
      }
      if (this.#cancelTimer !== undefined && connection.settled) this.#clearTimer();
    } catch {
      this.#breakDown();
    }
  }

  /** Hot path: one message that the library has accepted for sending. */
  sent(data: unknown, isText: boolean): void {
    if (this.#phase === 'over') return;
    if (this.#phase === 'requested') {
      this.#early ??= [];
      this.#early.push([data, isText]);
      return;
    }
    try {
      const { connection } = this;
      const { reads } = connection;
      if (reads === 'messages') connection.sent(contentOf(data, isText));
      else if (connection.role === 'server') {
        connection.sent(reads === 'nothing' ? UNSEEN : comparableOf(data));
      }
      if (this.#cancelTimer !== undefined && connection.settled) this.#clearTimer();
    } catch {
      this.#breakDown();
    }
  }

  /** The application lets go of its handshake; the error that follows will not tell that it did. */
  givenUp(reason: 'aborted' | 'timeout'): void {
    this.#reason ??= reason;
  }

  /** The handshake came to nothing: an attempt, not a connection (R1). */
  failed(errorType: string): void {
    if (this.#phase !== 'requested') return;
    this.#guard(() => {
      const reason = this.#reason ?? errorType;
      this.#host.recorder.noResponse(this.connection, reason);
      this.#finish();
      this.connection.end(reason === 'aborted' ? 'aborted' : 'reset', this.#host.now());
    });
  }

  /** @param code The close code; 1006 when the connection broke off. */
  closed(code: number): void {
    if (this.#phase !== 'open') return;
    this.#guard(() => {
      this.#finish();
      this.connection.end(`close:${code}`, this.#host.now());
    });
  }

  /** The tap is being switched off. */
  stop(): void {
    if (this.#phase === 'over') return;
    this.#guard(() => {
      this.#finish();
      this.connection.end('aborted', this.#host.now());
    });
  }

  /** Something of ours went wrong on the way to this WebSocket. */
  fail(): void {
    if (this.#phase !== 'over') this.#breakDown();
  }

  #timeOut(): void {
    this.#cancelTimer = undefined;
    if (this.#phase !== 'over') this.#guard(() => this.connection.timeout());
  }

  #finish(): void {
    this.#phase = 'over';
    this.#clearTimer();
    this.#onOver(this);
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
    const { role } = this.connection;
    const wasOver = this.#phase === 'over';
    attempt(() => this.#host.recorder.instrumentationError(`${role}_tap`));
    if (!wasOver) attempt(() => this.#finish());
    // Without it the connection would count as open for the life of the process.
    attempt(() => this.connection.end('aborted', this.#host.now()));
  }
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // What failed was counted when it failed first.
  }
}
