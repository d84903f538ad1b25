import type { Context } from '@opentelemetry/api';
import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import type { FollowedStream } from './followed-stream.ts';

/** A request that may be the next hop. */
interface Hop {
  readonly request: StreamRequest;
  /** The context it was made in; `undefined` where a library makes hops in a context of its own. */
  readonly context: Context | undefined;
}

interface Held extends Hop {
  readonly stream: FollowedStream;
  readonly url: string;
  readonly at: number;
  readonly release: () => void;
}

/**
 * Ties the hops of a redirected attempt together (L6). HTTP libraries make a new request object for
 * each hop and nothing on it tells of the one before, so a hop is known by what libraries keep when
 * they follow: the URL is the Location that a followed attempt was just sent to, Accept and
 * Last-Event-ID are the same, and so is the context. An application that follows by hand looks the
 * same, and means the same.
 */
export interface Redirects {
  /**
   * Keeps a redirected attempt back until its next hop appears.
   *
   * @param giveUp Called when none did: the redirect was the answer.
   * @returns Whether it was kept; otherwise the redirect is the answer, now.
   */
  hold(
    stream: FollowedStream,
    from: Hop,
    location: string | undefined,
    giveUp: () => void,
  ): boolean;
  /** The attempt that `hop` continues. */
  take(hop: Hop): FollowedStream | undefined;
  readonly waiting: boolean;
  stop(): void;
}

/** Libraries follow at once; a later request for the same URL is somebody else's. */
const HOP_MS = 2000;
const MOST_HELD = 64;

export function createRedirects(clock: {
  now(): number;
  later(callback: () => void): () => void;
}): Redirects {
  const held = new Set<Held>();

  return {
    hold(stream, from, location, giveUp) {
      const url = resolve(location, from.request);
      if (url === undefined || held.size >= MOST_HELD) return false;
      const cancel = clock.later(() => {
        held.delete(entry);
        giveUp();
      });
      const release = (): void => {
        held.delete(entry);
        cancel();
      };
      const entry: Held = { ...from, stream, url, at: clock.now(), release };
      held.add(entry);
      return true;
    },
    take(hop) {
      const now = clock.now();
      for (const entry of held) {
        if (now - entry.at > HOP_MS || !continues(entry, hop)) continue;
        entry.release();
        return entry.stream;
      }
      return undefined;
    },
    get waiting() {
      return held.size > 0;
    },
    stop() {
      for (const entry of [...held]) entry.release();
    },
  };
}

function continues(entry: Held, hop: Hop): boolean {
  return (
    entry.url === resolve(hop.request.target, hop.request) &&
    entry.context === hop.context &&
    sameHeader('accept', entry.request.header, hop.request.header) &&
    sameHeader('last-event-id', entry.request.header, hop.request.header)
  );
}

function sameHeader(name: string, one: HeaderLookup, other: HeaderLookup): boolean {
  return one(name) === other(name);
}

function resolve(location: string | undefined, from: StreamRequest): string | undefined {
  if (location === undefined) return undefined;
  const url = URL.parse(location, from.origin + from.target);
  if (url === null) return undefined;
  url.hash = '';
  return url.href;
}
