import type { ClientRequest, IncomingMessage } from 'node:http';
import type { FollowedStream } from './followed-stream.ts';
import { attach, detach, standIn, streamOn } from './stand-in.ts';

/** Requests that are busy telling that they timed out. */
const timingOut = new WeakSet<object>();

// Node tells a connection that the server reset and one that the application destroyed by the same
// error. Only the call of `destroy` tells them apart; and whether it was an idle timeout that made
// the application call, only what `emit` is busy with at that moment.
const REQUEST = [
  standIn('destroy', (behind) => {
    return function destroy(...args: unknown[]) {
      streamOn(this)?.askedToEnd(timingOut.has(this) ? 'idle_timeout' : 'aborted');
      return behind(this).apply(this, args);
    };
  }),
  standIn('emit', (behind) => {
    return function emit(...args: unknown[]) {
      if (args[0] === 'close') streamOn(this)?.closed();
      if (args[0] !== 'timeout') return behind(this).apply(this, args);
      timingOut.add(this);
      try {
        return behind(this).apply(this, args);
      } finally {
        timingOut.delete(this);
      }
    };
  }),
];

const RESPONSE = [
  standIn('push', (behind) => {
    return function push(this: IncomingMessage, chunk: unknown, encoding?: unknown) {
      const stream = streamOn(this);
      if (chunk instanceof Uint8Array) stream?.push(chunk);
      else if (chunk === null) stream?.ended(this.complete ? 'eof' : 'reset');
      return behind(this).call(this, chunk, encoding);
    };
  }),
  standIn('destroy', (behind) => {
    return function destroy(...args: unknown[]) {
      streamOn(this)?.ended(isReset(args[0]) ? 'reset' : 'aborted');
      return behind(this).apply(this, args);
    };
  }),
];

/** Learns from the request how its attempt ends, without a listener on it. */
export function watchRequest(request: ClientRequest, stream: FollowedStream): void {
  attach(request, stream, REQUEST);
  stream.carriedBy(request, unwatchRequest);
}

/** The request was only a hop of its attempt, or its stream is over. */
export function unwatchRequest(request: object): void {
  detach(request, REQUEST);
}

/** Feeds the body of a response as its parser delivers it, before any consumer. */
export function followBody(response: IncomingMessage, stream: FollowedStream): void {
  attach(response, stream, RESPONSE);
  stream.carriedBy(response, detachResponse);
}

function detachResponse(response: object): void {
  detach(response, RESPONSE);
  const { req } = response as { readonly req?: object };
  if (req !== undefined) unwatchRequest(req);
}

/** Node destroys a response whose socket closed too early by an error of its own. */
function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}
