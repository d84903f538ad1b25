import type { ConnectionEnd, HeaderLookup, StreamConnection, StreamRequest } from '@sameriver/core';
import type { TapHost } from '@sameriver/telemetry';
import type { Decoder } from '../decode.ts';
import { contentDecoder } from '../decode.ts';
import { endOf, errorTypeOf } from './end-reason.ts';

/**
 * `draining`: the body is over, and decoded bytes of it are still on their way to the timeline.
 */
type Phase = 'requested' | 'streaming' | 'draining' | 'over';

/** `identity`: bytes are fed as they come. `deaf`: they cannot be read, only the end is told. */
type Reading = Decoder | 'identity' | 'deaf';

/** Whoever keeps the streams that are being followed. */
interface Owner {
  readonly host: TapHost;
  forget(stream: FollowedStream): void;
}

/**
 * One attempt to connect, from its request to the end of its stream. Every method may be called
 * at any time and none throws: a fault of ours ends the following of this one stream, is counted,
 * and reaches nobody else.
 */
export class FollowedStream {
  readonly connection: StreamConnection;
  readonly #owner: Owner;
  #phase: Phase = 'requested';
  #reading: Reading = 'identity';
  #cancelTimer: (() => void) | undefined;
  #carrier: object | undefined;
  #detach: ((carrier: object) => void) | undefined;
  #undo: Array<() => void> | undefined;
  #asked: ConnectionEnd | undefined;

  constructor(owner: Owner, connection: StreamConnection) {
    this.#owner = owner;
    this.connection = connection;
  }

  /** The object that carries the stream by now, and how it is freed when the stream is over. */
  carriedBy(carrier: object, detach: (carrier: object) => void): void {
    this.#carrier = carrier;
    this.#detach = detach;
    if (this.#phase === 'over') this.#release();
  }

  /** Hands over what else is to be undone when the stream is over. */
  untilOver(undo: () => void): void {
    this.#undo ??= [];
    this.#undo.push(undo);
  }

  /** L6: the next hop of the same attempt. */
  redirected(request: StreamRequest): void {
    if (this.#phase === 'requested') this.#guard(() => this.connection.redirect(request));
  }

  /** The response head is in. Returns whether its body is to be fed. */
  answered(status: number, header: HeaderLookup): boolean {
    if (this.#phase !== 'requested') return false;
    this.#guard(() => {
      if (!this.connection.response(status, header)) {
        this.#finish();
        this.#owner.host.recorder.notStream(this.connection);
        return;
      }
      this.#phase = 'streaming';
      this.#reading = this.#decoderFor(header('content-encoding'));
      if (!this.connection.settled)
        this.#cancelTimer = this.#owner.host.later(() => this.#timeOut());
    });
    return this.#feeding;
  }

  /** Bytes of the body as they came over the wire. */
  push(bytes: Uint8Array): void {
    if (!this.#feeding) return;
    try {
      const reading = this.#reading;
      if (reading === 'identity') this.#feed(bytes);
      else if (reading !== 'deaf') reading.push(bytes);
    } catch {
      this.#breakDown();
    }
  }

  /** The application asked for the end; the error that follows will not tell that it did. */
  askedToEnd(end: ConnectionEnd): void {
    this.#asked ??= end;
    if (this.#phase === 'streaming') this.ended(end);
  }

  /** Nothing more will come, for whatever reason. */
  closed(): void {
    if (this.#phase === 'requested') this.failed(undefined);
    else this.ended('reset');
  }

  /** The request failed, or its body broke off. */
  failed(error: unknown): void {
    if (this.#phase !== 'requested') {
      this.ended(endOf(error));
      return;
    }
    // No response came: an attempt, not a connection (R1).
    this.#guard(() => {
      const type = this.#asked === undefined ? errorTypeOf(error) : this.#asked;
      this.#owner.host.recorder.noResponse(this.connection, type);
      this.#conclude(this.#asked ?? endOf(error), this.#owner.host.now());
    });
  }

  /** The body is over. */
  ended(end: ConnectionEnd): void {
    if (this.#phase !== 'requested' && this.#phase !== 'streaming') return;
    this.#guard(() => {
      const at = this.#owner.host.now();
      const reading = this.#reading;
      if (reading === 'identity' || reading === 'deaf') {
        this.#conclude(end, at);
        return;
      }
      this.#phase = 'draining';
      reading.end(() => this.#guard(() => this.#conclude(end, at)));
    });
  }

  /** The tap is being switched off. */
  stop(): void {
    if (this.#phase === 'over') return;
    this.#guard(() => this.#conclude('aborted', this.#owner.host.now()));
  }

  get #feeding(): boolean {
    return this.#phase === 'streaming';
  }

  #decoderFor(coding: string | undefined): Reading {
    const decoder = contentDecoder(coding, {
      decoded: (bytes) => this.#guard(() => this.#feed(bytes)),
      failed: () => this.#guard(() => this.#deafen()),
    });
    return decoder === 'unsupported' ? this.#deafen() : decoder;
  }

  #deafen(): Reading {
    this.#reading = 'deaf';
    this.#owner.host.recorder.instrumentationError('decoder');
    return this.#reading;
  }

  #feed(bytes: Uint8Array): void {
    this.connection.push(bytes);
    if (this.#cancelTimer === undefined || !this.connection.settled) return;
    // Whoever reads frames may still read a reset, which counts when the timeout has passed (R3).
    if (this.connection.reads !== 'messages') this.#clearTimer();
  }

  #timeOut(): void {
    this.#cancelTimer = undefined;
    if (this.#phase === 'over') return;
    this.#guard(() => this.connection.timeout());
  }

  #conclude(end: ConnectionEnd, at: number): void {
    if (this.#phase === 'over') return;
    this.#finish();
    this.connection.end(end, at);
  }

  #finish(): void {
    this.#phase = 'over';
    this.#clearTimer();
    if (typeof this.#reading !== 'string') this.#reading.stop();
    this.#release();
    this.#owner.forget(this);
  }

  #release(): void {
    const [carrier, undo] = [this.#carrier, this.#undo ?? []];
    this.#carrier = this.#undo = undefined;
    if (carrier !== undefined) this.#detach?.(carrier);
    for (const each of undo) each();
  }

  #clearTimer(): void {
    const cancel = this.#cancelTimer;
    this.#cancelTimer = undefined;
    cancel?.();
  }

  #guard(action: () => unknown): void {
    try {
      action();
    } catch {
      this.#breakDown();
    }
  }

  /** A fault of ours: this stream is followed no further, and what was open of it is closed. */
  #breakDown(): void {
    const wasOver = this.#phase === 'over';
    attempt(() => this.#owner.host.recorder.instrumentationError('client_tap'));
    if (wasOver) return;
    attempt(() => this.#finish());
    // Without it the connection would count as open for the life of the process.
    attempt(() => this.connection.end('aborted', this.#owner.host.now()));
  }
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // What failed was counted when it failed first.
  }
}
