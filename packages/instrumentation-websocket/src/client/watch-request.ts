import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Method, Original } from '@sameriver/telemetry';
import { Interposed } from '@sameriver/telemetry';
import type { FollowedSocket } from '../followed-socket.ts';

/** Hears that the server has changed the protocol. */
export interface Upgrade {
  /** Before the listeners do. */
  comes(response: IncomingMessage): void;
  /** When each of them has. */
  came(response: IncomingMessage): void;
}

interface Watch {
  readonly socket: FollowedSocket;
  readonly upgrade: Upgrade;
  isTimingOut: boolean;
}

type WatchOf = (request: object) => Watch | undefined;

const watched = new Interposed<Watch>({ destroy: watchDestroy, emit: watchEmit });

/**
 * Learns from a handshake's request how it ended, without a listener on it. Node tells a request
 * that the server dropped and one that the application gave up by the same error; only the call of
 * `destroy` tells them apart, and whether a timeout made it, only what `emit` is busy with then.
 */
export function watchRequest(
  request: ClientRequest,
  socket: FollowedSocket,
  upgrade: Upgrade,
): void {
  watched.put(request, { socket, upgrade, isTimingOut: false });
}

/** Ends the watching: the request was answered, or was only a hop of its attempt. */
export function unwatch(request: ClientRequest): void {
  watched.remove(request);
}

function watchDestroy(original: Original, watchOf: WatchOf): Method {
  return function destroy(this: ClientRequest, ...args: unknown[]) {
    const watch = watchOf(this);
    watch?.socket.givenUp(watch.isTimingOut ? 'timeout' : 'aborted');
    return original().apply(this, args);
  };
}

function watchEmit(original: Original, watchOf: WatchOf): Method {
  return function emit(this: ClientRequest, ...args: unknown[]) {
    const watch = watchOf(this);
    const [event, response] = args as [unknown, IncomingMessage];
    if (watch === undefined || (event !== 'close' && event !== 'upgrade' && event !== 'timeout')) {
      return original().apply(this, args);
    }
    begin(this, watch, event, response);
    try {
      return original().apply(this, args);
    } finally {
      watch.isTimingOut = false;
      if (event === 'upgrade') watch.upgrade.came(response);
    }
  };
}

function begin(
  request: ClientRequest,
  watch: Watch,
  event: 'close' | 'upgrade' | 'timeout',
  response: IncomingMessage,
): void {
  watch.isTimingOut = event === 'timeout';
  if (event === 'timeout') return;
  watched.remove(request);
  if (event === 'close') watch.socket.failed('ECONNRESET');
  else watch.upgrade.comes(response);
}
