import type { ClientRequest, IncomingMessage } from 'node:http';
import type { FollowedSocket } from '../followed-socket.ts';
import { shadow } from '../patch.ts';

/** Hears that the server has changed the protocol. */
interface Upgrade {
  /** Before the listeners do. */
  comes(response: IncomingMessage): void;
  /** When each of them has. */
  came(response: IncomingMessage): void;
}

/**
 * Learns from a handshake's request how it ended, without a listener on it. Node tells a request
 * that the server dropped and one that the application gave up by the same error; only the call of
 * `destroy` tells them apart, and whether a timeout made it, only what `emit` is busy with then.
 *
 * @returns Ends the watching: the request was only a hop of its attempt.
 */
export function watchRequest(
  request: ClientRequest,
  socket: FollowedSocket,
  upgrade: Upgrade,
): () => void {
  let timingOut = false;
  const undo = shadow(request, {
    destroy: (original) =>
      function destroy(this: unknown, ...args: unknown[]) {
        socket.givenUp(timingOut ? 'timeout' : 'aborted');
        return original.apply(this, args);
      },
    emit: (original) =>
      function emit(this: unknown, ...args: unknown[]) {
        const [event, response] = args as [unknown, IncomingMessage];
        if (event === 'close') {
          undo();
          socket.failed('ECONNRESET');
        } else if (event === 'upgrade') {
          undo();
          upgrade.comes(response);
        }
        timingOut = event === 'timeout';
        try {
          return original.apply(this, args);
        } finally {
          timingOut = false;
          if (event === 'upgrade') upgrade.came(response);
        }
      },
  });
  return undo;
}
