import type { Context } from '@opentelemetry/api';
import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import { claim, newOwner } from '@sameriver/core';
import type { ConnectionStart, TapHost } from '@sameriver/telemetry';
import { FollowedStream } from './followed-stream.ts';
import { isHandshake } from './interest.ts';

/** The attempts of this process that are being followed, whatever library made them. */
export class Attempts {
  readonly host: TapHost;
  readonly #owner: string = newOwner('sse');
  readonly #running = new Set<FollowedStream>();

  constructor(host: TapHost) {
    this.host = host;
  }

  /** A timeline that knows this request's stream wants its answer, even if it is none. */
  wants(request: StreamRequest): boolean {
    return this.host.timeline.wants(request);
  }

  /** Whether the stream of `target` is ours, or may be. */
  holds(target: object): boolean {
    return claim(target, this.#owner, 0);
  }

  /**
   * @param target The library's request object: the claim stands on it.
   * @returns `undefined` when the application or a more specific instrumentation says no, and for
   *   the handshake of a WebSocket, whatever cursor it carries.
   */
  open(target: object, request: StreamRequest, start: ConnectionStart): FollowedStream | undefined {
    const { host } = this;
    if (isHandshake(request.header('upgrade'))) return undefined;
    if (host.ignore?.(request) === true || !this.holds(target)) return undefined;
    const connection = host.timeline.open(request, host.now());
    const stream = new FollowedStream(this, connection);
    this.#running.add(stream);
    try {
      host.recorder.opened(connection, start);
    } catch (fault) {
      stream.stop();
      throw fault;
    }
    return stream;
  }

  /**
   * The head of a final response is in. A stream that a more specific instrumentation has claimed
   * since is given up.
   *
   * @returns Whether the body is to be fed.
   */
  answered(target: object, stream: FollowedStream, status: number, header: HeaderLookup): boolean {
    if (this.holds(target)) return stream.answered(status, header);
    stream.stop();
    return false;
  }

  /** The context in which the HTTP span of this attempt becomes a child of the attempt's own. */
  contextOf(stream: FollowedStream): Context | undefined {
    return this.safely(() => this.host.recorder.attemptContext(stream.connection));
  }

  forget(stream: FollowedStream): void {
    this.#running.delete(stream);
  }

  /** Runs a step of the tap; a fault is counted and answered with `undefined`. */
  safely<Result>(step: () => Result): Result | undefined {
    try {
      return step();
    } catch {
      this.countFault();
      return undefined;
    }
  }

  stop(): void {
    for (const stream of [...this.#running]) stream.stop();
  }

  countFault(): void {
    try {
      this.host.recorder.instrumentationError('client_tap');
    } catch {
      // Nobody is left to tell.
    }
  }
}
