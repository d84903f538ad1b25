import type { Role, StreamConnection } from '@sameriver/core';
import type { Counted } from './counts.ts';
import { clearActive, countActive, countDuplicates, countEvents, zeroSeries } from './counts.ts';
import type { LoadLevel } from './names.ts';
import type { LiveConnection } from './record.ts';
import { liveOf } from './record.ts';
import type { Tally } from './tally.ts';

/** Brings the plain integers of connections into the tally, under bounded labels. */
export interface EventCounter {
  /** Creates the series of a protocol with value 0, unless they exist. */
  expect(role: Role, profile: string): Counted;
  /** Labels of a connection. */
  labelsOf(connection: StreamConnection): Counted;
  /**
   * Adds what came since the last time. The protocol may be confirmed late, and a counter must
   * not fall: so differences are added, under the name that holds now.
   */
  count(connection: StreamConnection, live: LiveConnection): void;
  /** The same for all of `open`, which also are the active ones. */
  countAll(open: ReadonlySet<StreamConnection>): void;
}

/**
 * @param tallyFor The tally, for what happened on one connection.
 * @param levelNow Load level for what repeats on a connection without a verdict.
 */
export function createEventCounter(
  tally: Tally,
  tallyFor: (live: LiveConnection) => Tally,
  labelOf: (profile: string) => string,
  levelNow: () => LoadLevel,
): EventCounter {
  const known: Readonly<Record<Role, Map<string, Counted>>> = {
    client: new Map(),
    server: new Map(),
  };

  function expect(role: Role, profile: string): Counted {
    const found = known[role].get(profile);
    if (found !== undefined) return found;
    const labels = { role, protocol: labelOf(profile) };
    known[role].set(profile, labels);
    zeroSeries(tally, labels);
    return labels;
  }

  function count(connection: StreamConnection, live: LiveConnection): void {
    const { role, protocol, events, repeated } = connection;
    const labels = expect(role, protocol);
    countEvents(tally, labels, events - live.events);
    const more = repeated - live.repeated;
    if (more > 0) countDuplicates(tallyFor(live), labels, live.level ?? levelNow(), more);
    live.events = events;
    live.repeated = repeated;
  }

  return {
    expect,
    labelsOf: ({ role, protocol }) => expect(role, protocol),
    count,
    countAll(open) {
      clearActive(tally);
      for (const connection of open) {
        const live = liveOf(connection);
        if (live !== undefined) count(connection, live);
        countActive(tally, expect(connection.role, connection.protocol));
      }
    },
  };
}
