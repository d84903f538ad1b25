import type { Context, Span } from '@opentelemetry/api';
import { context, createContextKey, trace } from '@opentelemetry/api';
import type { HeaderLookup, StreamConnection, StreamRequest } from '@sameriver/core';
import { claim, newOwner } from '@sameriver/core';
import type { ConnectionStart, TapHost } from '@sameriver/telemetry';
import type { FollowerOwner } from './follower.ts';
import { Follower } from './follower.ts';

/** A response whose head has just been written. */
export interface Answer {
  readonly request: StreamRequest;
  readonly status: number;
  readonly header: HeaderLookup;
  /** When the request came in, by the host's clock, where that was noted. */
  readonly arrivedAt: number | undefined;
}

/** A response object with the tap's own slot; the name of the slot differs for each tap. */
export type Slotted = Record<symbol, Follower | undefined>;

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

// @opentelemetry/core's key. Context keys of one description are equal on purpose, so that several
// copies of a package understand each other; importing the package for it would be a dependency.
const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

function httpSpan(active: Context): Span | undefined {
  const metadata = active.getValue(RPC_METADATA) as { span?: Span } | undefined;
  return metadata?.span ?? trace.getSpan(active);
}

/** The responses that one tap follows, whatever the HTTP version they are written on. */
export class ServerStreams implements FollowerOwner {
  /** Where a followed response keeps its follower. */
  readonly slot: symbol = Symbol('sameriver.follower');
  readonly host: TapHost;
  readonly #followers: Set<Follower> = new Set();
  readonly #owner: string = newOwner('sse');
  #stopped = false;

  constructor(host: TapHost) {
    this.host = host;
  }

  now(): number {
    return this.host.now();
  }

  /** False for the many responses that are nobody's stream; they must cost next to nothing. */
  concerns(response: object, request: StreamRequest, isEventStream: boolean): boolean {
    if (this.#stopped) return false;
    if (!isEventStream && !this.host.timeline.wants(request)) return false;
    return this.host.ignore?.(request) !== true && claim(response, this.#owner, 0);
  }

  /**
   * Reports the head of a response that concerns us and follows its body if it is a stream. To be
   * called while the head is written: it is the one moment at which the span of the request is
   * known to be active, since a later write runs in the context of whoever publishes.
   */
  answered(response: object, answer: Answer): void {
    const now = this.host.now();
    const connection = this.host.timeline.open(answer.request, answer.arrivedAt ?? now);
    try {
      this.#opened(connection, answer.arrivedAt, now);
      if (connection.response(answer.status, answer.header)) {
        this.#follow(response, connection, answer.header('content-encoding'));
      } else this.host.recorder.notStream(connection);
    } catch (error) {
      // What was opened is closed, or it would count as an active stream for ever.
      connection.end('aborted', now);
      throw error;
    }
  }

  /** Runs work of ours inside a host application: a failure is counted and goes no further. */
  guard(work: () => void): void {
    try {
      work();
    } catch {
      this.failed();
    }
  }

  failed(): void {
    try {
      this.host.recorder.instrumentationError('server_tap');
    } catch {
      // The counter itself has failed: there is nobody left to tell.
    }
  }

  release(follower: Follower): void {
    this.#followers.delete(follower);
    (follower.response as Slotted)[this.slot] = undefined;
  }

  stop(): void {
    this.#stopped = true;
    for (const follower of [...this.#followers]) follower.stop();
  }

  #opened(connection: StreamConnection, arrivedAt: number | undefined, now: number): void {
    const active = context.active();
    const span = httpSpan(active);
    // Made in place: to spread what is there into it costs a storm more than the rest of this.
    const start: Writable<ConnectionStart> = { context: active };
    if (span !== undefined) start.httpSpan = span;
    if (arrivedAt !== undefined) start.startTime = Date.now() - (now - arrivedAt);
    this.host.recorder.opened(connection, start);
  }

  #follow(
    response: object,
    connection: StreamConnection,
    contentEncoding: string | undefined,
  ): void {
    const follower = new Follower(this, response, connection, contentEncoding);
    // Not enumerable: the application's own walks over the response must not meet it.
    const value = { value: follower, writable: true, configurable: true };
    Object.defineProperty(response, this.slot, value);
    this.#followers.add(follower);
  }
}
