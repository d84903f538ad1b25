import type { Follower } from './follower.ts';
import type { Method, Originals, Wrappers } from './patch.ts';

/** What the wrappers have to know of one HTTP version. */
export interface Wire {
  /** Bytes are dropped by now, although the response may not have closed yet. */
  gone(response: object): boolean;
  /** The encoding in force for a string, given the argument in the place of an encoding. */
  encoding(response: object, argument: unknown): unknown;
}

export type BodyMethod = 'write' | 'end' | 'emit';

type Response = Record<symbol, Follower | undefined>;
type Wrap = (originals: Originals<BodyMethod>) => Method;

/*
 * The wrappers sit on the prototype, below everything that shadows methods on a single response
 * (compression, on-headers, morgan …): they see what goes to the wire.
 *
 * A chunk is reported before it is written: the scanner flattens a string made of pieces in native
 * code, which makes the write after it cheaper. Reported afterwards, the same scan costs three
 * times as much at 60 bytes. Only the first chunk under implicit headers is reported afterwards,
 * as the head is written, and judged, inside that very call.
 */

function wrapWrite(slot: symbol, wire: Wire): Wrap {
  return (originals) =>
    function write(this: unknown, ...args: unknown[]): unknown {
      const response = this as Response;
      const follower = response[slot];
      if (follower === undefined) {
        const result = originals.write.apply(this, args);
        const late = response[slot];
        if (late !== undefined) reportLate(response, late, wire, args);
        return result;
      }
      if (follower.inside || wire.gone(response)) return originals.write.apply(this, args);
      follower.wrote(args[0], wire.encoding(response, args[1]));
      follower.inside = true;
      try {
        return originals.write.apply(this, args);
      } finally {
        follower.inside = false;
      }
    };
}

function wrapEnd(slot: symbol, wire: Wire): Wrap {
  return (originals) =>
    function end(this: unknown, ...args: unknown[]): unknown {
      const response = this as Response;
      const follower = response[slot];
      if (follower === undefined) {
        const result = originals.end.apply(this, args);
        const late = response[slot];
        if (late !== undefined && reportLate(response, late, wire, args)) late.finish('eof');
        return result;
      }
      if (wire.gone(response)) return originals.end.apply(this, args);
      follower.wrote(args[0], wire.encoding(response, args[1]));
      follower.inside = true;
      try {
        const result = originals.end.apply(this, args);
        follower.finish('eof');
        return result;
      } finally {
        follower.inside = false;
      }
    };
}

function reportLate(
  response: Response,
  follower: Follower,
  wire: Wire,
  [chunk, encoding]: unknown[],
): boolean {
  if (wire.gone(response)) return false;
  // A method below ours that came back through ours has reported the chunk already.
  if (follower.chunks === 0) follower.wrote(chunk, wire.encoding(response, encoding));
  return true;
}

// No listener is added anywhere: an application that counts its listeners, or removes all of them,
// must find what it would find without us.
function wrapEmit(slot: symbol, wire: Wire): Wrap {
  return (originals) =>
    function emit(this: unknown, ...args: unknown[]): unknown {
      const follower = (this as Response)[slot];
      if (follower !== undefined) {
        const event = args[0];
        // An HTTP/2 stream whose reader leaves without an error code never closes on Node: it waits
        // for what was written to go out, which it will not.
        const isOver = event === 'close' || (event === 'aborted' && wire.gone(this as Response));
        if (isOver) follower.lost();
        else if (event === 'timeout') follower.idle();
      }
      return originals.emit.apply(this, args);
    };
}

/** The wrappers that follow a body, for any prototype with the methods of a writable stream. */
export function bodyWrappers(slot: symbol, wire: Wire): Wrappers<BodyMethod> {
  return { write: wrapWrite(slot, wire), end: wrapEnd(slot, wire), emit: wrapEmit(slot, wire) };
}
