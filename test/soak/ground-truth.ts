import type { Role, Verdict } from '@sameriver/core';

/** A position in a log, as it stands in the data of every event: which log, and which event of it. */
export interface Position {
  readonly log: string;
  readonly n: number;
}

/**
 * What became of a reader that came back, by what it was really sent: `continues`: the next event of
 * the same log. `lost`: a later one. `other_log`: an event of another log. `nothing`: no event.
 */
export type Truth = 'continues' | 'lost' | 'repeated' | 'other_log' | 'nothing';

/** One reconnect, as the application knows it. */
export interface Reconnect {
  readonly truth: Truth;
  /** Whether the wire showed it: a log that names itself, or a number that does not rise. */
  readonly provable: boolean;
}

export type Verdicts = Readonly<Partial<Record<Role, Verdict | undefined>>>;

/** What a verdict got wrong, `undefined` when it got nothing wrong. */
export type Fault = 'false resumed' | 'honest server accused' | 'silent re-origination';

/**
 * V8 is what one instance observes in its own log. Where instances number their own logs alike, another
 * one's cursor is a number of its own, and it honours what it never gave (docs/security.md). Nothing
 * on the wire says so to a server; counted apart.
 */
export function isCollision({ truth }: Reconnect, { client, server }: Verdicts): boolean {
  const isOwnView = server?.classification === 'resumed' && server.reason === 'replay_observed';
  return truth === 'other_log' && isOwnView && client?.classification !== 'resumed';
}

/**
 * @param asked What the reader sent as its cursor.
 * @param first The first event that it was sent then.
 * @param stamped The server names its log.
 */
export function judgeTruth(
  asked: Position,
  first: Position | undefined,
  stamped: boolean,
): Reconnect {
  if (first === undefined) return { truth: 'nothing', provable: false };
  if (first.log !== asked.log) {
    return { truth: 'other_log', provable: stamped || first.n <= asked.n };
  }
  if (first.n === asked.n + 1) return { truth: 'continues', provable: true };
  // A number that jumps proves nothing to a reader; the server knows what it has written.
  if (first.n > asked.n) return { truth: 'lost', provable: false };
  return { truth: 'repeated', provable: true };
}

/** Compares what both ends said with what happened. */
export function faultOf({ truth, provable }: Reconnect, verdicts: Verdicts): Fault | undefined {
  const said = Object.values(verdicts).map((verdict) => verdict?.classification);
  if (said.includes('resumed') && truth !== 'continues') return 'false resumed';
  if (said.includes('reoriginated') && truth === 'continues') return 'honest server accused';
  const isBreak = truth === 'other_log' || truth === 'repeated' || truth === 'lost';
  if (isBreak && provable && !said.includes('reoriginated')) return 'silent re-origination';
  return undefined;
}
