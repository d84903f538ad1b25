import type { ClientRequest, IncomingMessage } from 'node:http';
import type { FollowedStream } from './followed-stream.ts';
import { shadow } from './shadow.ts';

/**
 * Learns from the request object how its attempt ends, without a listener on it.
 *
 * Node tells a connection that the server reset and one that the application destroyed by the same
 * error. Only the call of `destroy` tells them apart; and whether it was an idle timeout that made
 * the application call, only what `emit` is busy with at that moment.
 *
 * @returns Ends the watching before the stream is over: the request was only a hop of its attempt.
 */
export function watchRequest(request: ClientRequest, stream: FollowedStream): () => void {
  let timingOut = false;
  const undoDestroy = shadow(request, 'destroy', (original) => {
    return function destroy(...args: unknown[]) {
      stream.askedToEnd(timingOut ? 'idle_timeout' : 'aborted');
      return original.apply(this, args);
    };
  });
  const undoEmit = shadow(request, 'emit', (original) => {
    return function emit(...args: unknown[]) {
      if (args[0] === 'close') stream.closed();
      if (args[0] !== 'timeout') return original.apply(this, args);
      timingOut = true;
      try {
        return original.apply(this, args);
      } finally {
        timingOut = false;
      }
    };
  });
  const undo = (): void => {
    undoDestroy();
    undoEmit();
  };
  stream.untilOver(undo);
  return undo;
}

/** Feeds the body of a response as its parser delivers it, before any consumer. */
export function followBody(response: IncomingMessage, stream: FollowedStream): void {
  const undoPush = shadow(response, 'push', (original) => {
    return function push(chunk: unknown, encoding?: unknown) {
      if (chunk instanceof Uint8Array) stream.push(chunk);
      else if (chunk === null) stream.ended(response.complete ? 'eof' : 'reset');
      return original.call(this, chunk, encoding);
    };
  });
  const undoDestroy = shadow(response, 'destroy', (original) => {
    return function destroy(...args: unknown[]) {
      stream.ended(isReset(args[0]) ? 'reset' : 'aborted');
      return original.apply(this, args);
    };
  });
  stream.untilOver(() => {
    undoPush();
    undoDestroy();
  });
}

/** Node destroys a response whose socket closed too early by an error of its own. */
function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}
