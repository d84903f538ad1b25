import type { ConnectionEnd, StreamConnection } from '@sameriver/core';
import type { TapHost } from '@sameriver/telemetry';
import type { Decoder } from '../decode.ts';
import { contentDecoder } from '../decode.ts';

/** `blind`: the body is in a coding that nobody here can read; its end is still worth knowing. */
type Reading = Decoder | 'identity' | 'blind';

function asBytes(view: ArrayBufferView): Uint8Array {
  return view instanceof Uint8Array
    ? view
    : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** What all followers of one tap share: no closure of its own for a response that stays for days. */
export interface FollowerOwner {
  readonly host: TapHost;
  /** Called once, when the connection has ended and nothing is pending. */
  release(follower: Follower): void;
}

/**
 * One response whose body the tap follows. Whatever goes wrong in here ends the following of this
 * one response, is counted as `server_tap`, and never reaches the application.
 */
export class Follower {
  /** A wrapper is inside the original method: what comes through again was reported already. */
  inside = false;
  /** Chunks reported so far. */
  chunks = 0;
  #state: 'open' | 'ending' | 'closed' = 'open';
  #timedOut = false;
  readonly #connection: StreamConnection;
  #reading: Reading;
  #cancelTimer: (() => void) | undefined;
  readonly response: object;
  readonly #owner: FollowerOwner;

  /** @param contentEncoding The `Content-Encoding` of the response. */
  constructor(
    owner: FollowerOwner,
    response: object,
    connection: StreamConnection,
    contentEncoding: string | undefined,
  ) {
    this.#owner = owner;
    this.response = response;
    this.#connection = connection;
    this.#reading = this.#reader(contentEncoding);
    if (!connection.settled) this.#cancelTimer = owner.host.later(() => this.#timeout());
  }

  /**
   * A chunk that the response has accepted, exactly as the application handed it over.
   *
   * @param encoding Of a string; anything but the name of an encoding means UTF-8.
   */
  wrote(chunk: unknown, encoding: unknown): void {
    this.chunks += 1;
    if (this.#state !== 'open') return;
    this.#timedOut = false;
    try {
      if (typeof chunk === 'string') this.#text(chunk, encoding);
      else if (ArrayBuffer.isView(chunk)) this.#bytes(asBytes(chunk));
      if (this.#cancelTimer !== undefined) this.#stopTimerOnceSettled();
    } catch {
      this.fail();
    }
  }

  /** A socket timeout was announced: if the connection closes before the next write, it is why. */
  idle(): void {
    this.#timedOut = true;
  }

  /** The response is over; later calls do nothing. */
  finish(end: ConnectionEnd): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    try {
      const at = this.#owner.host.now();
      if (typeof this.#reading === 'string') this.#close(end, at);
      else this.#reading.end(() => this.#close(end, at));
    } catch {
      this.fail();
    }
  }

  /** The connection went away before the application had ended the response. */
  lost(): void {
    this.finish(this.#timedOut ? 'idle_timeout' : 'reset');
  }

  /** Counts a failure of ours and lets go of the response. */
  fail(): void {
    this.#count('server_tap');
    this.stop();
  }

  /** The tap lets go: the connection ends here for us, whatever was pending. */
  stop(): void {
    try {
      // What was opened is closed, or it would count as an active stream for ever.
      if (this.#release()) this.#connection.end('aborted', this.#owner.host.now());
    } catch {
      this.#count('server_tap');
    }
  }

  #reader(contentEncoding: string | undefined): Reading {
    if (contentEncoding === undefined) return 'identity';
    const reading = contentDecoder(contentEncoding, {
      decoded: (bytes) => this.#decoded(bytes),
      failed: () => this.#count('decoder'),
    });
    if (reading !== 'unsupported') return reading;
    this.#count('decoder');
    return 'blind';
  }

  #text(text: string, encoding: unknown): void {
    if (typeof encoding !== 'string' || encoding === 'utf8' || encoding === 'utf-8') {
      if (this.#reading === 'identity') this.#connection.pushString(text);
      else this.#bytes(Buffer.from(text));
      // An encoding that nobody knows is refused by the write that follows.
    } else if (Buffer.isEncoding(encoding)) this.#bytes(Buffer.from(text, encoding));
  }

  #bytes(bytes: Uint8Array): void {
    if (this.#reading === 'identity') this.#connection.push(bytes);
    else if (this.#reading !== 'blind') this.#reading.push(bytes);
  }

  #decoded(bytes: Uint8Array): void {
    try {
      this.#connection.push(bytes);
      if (this.#cancelTimer !== undefined) this.#stopTimerOnceSettled();
    } catch {
      this.fail();
    }
  }

  #timeout(): void {
    this.#cancelTimer = undefined;
    if (this.#state === 'closed') return;
    try {
      this.#connection.timeout();
    } catch {
      this.fail();
    }
  }

  #stopTimerOnceSettled(): void {
    if (!this.#connection.settled) return;
    const cancel = this.#cancelTimer;
    this.#cancelTimer = undefined;
    cancel?.();
  }

  #close(end: ConnectionEnd, at: number): void {
    try {
      if (this.#release()) this.#connection.end(end, at);
    } catch {
      this.#count('server_tap');
    }
  }

  #release(): boolean {
    if (this.#state === 'closed') return false;
    this.#state = 'closed';
    this.#owner.release(this);
    if (typeof this.#reading !== 'string') this.#reading.stop();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    return true;
  }

  #count(reason: 'server_tap' | 'decoder'): void {
    try {
      this.#owner.host.recorder.instrumentationError(reason);
    } catch {
      // The counter itself has failed: there is nobody left to tell.
    }
  }
}
