import type { Context } from '@opentelemetry/api';
import type { Role, StreamRequest } from '@sameriver/core';
import { claim, newOwner } from '@sameriver/core';
import type { ConnectionStart, TapHost } from '@sameriver/telemetry';
import type { SocketOwner } from './followed-socket.ts';
import { FollowedSocket } from './followed-socket.ts';

/** The WebSockets that one end of this process follows, whatever library made them. */
export class Sockets implements SocketOwner {
  readonly host: TapHost;
  readonly #role: Role;
  readonly #owner: string = newOwner('websocket');
  readonly #running = new Set<FollowedSocket>();

  constructor(host: TapHost, role: Role) {
    this.host = host;
    this.#role = role;
  }

  /**
   * @param target The library's request object: the claim stands on it.
   * @param at Milliseconds of the host's clock, when the request is older than this call.
   * @returns `undefined` when the application or a more specific instrumentation says no.
   */
  open(
    target: object,
    request: StreamRequest,
    start: ConnectionStart,
    at: number = this.host.now(),
  ): FollowedSocket | undefined {
    const { host } = this;
    if (host.ignore?.(request) === true || !claim(target, this.#owner, 0)) return undefined;
    const connection = host.timeline.open(request, at);
    const socket = new FollowedSocket(this, connection);
    this.#running.add(socket);
    try {
      host.recorder.opened(connection, start);
    } catch (fault) {
      socket.stop();
      throw fault;
    }
    return socket;
  }

  /** The context in which the HTTP span of this attempt becomes a child of the attempt's own. */
  contextOf(socket: FollowedSocket): Context | undefined {
    return this.safely(() => this.host.recorder.attemptContext(socket.connection));
  }

  forget(socket: FollowedSocket): void {
    this.#running.delete(socket);
  }

  /** Runs a step of the tap; a fault is counted and answered with `undefined`. */
  safely<Result>(step: () => Result): Result | undefined {
    try {
      return step();
    } catch {
      this.#countFault();
      return undefined;
    }
  }

  stop(): void {
    for (const socket of [...this.#running]) socket.stop();
  }

  #countFault(): void {
    try {
      this.host.recorder.instrumentationError(`${this.#role}_tap`);
    } catch {
      // The counter itself has failed: there is nobody left to tell.
    }
  }
}
