import type { Attributes } from '@opentelemetry/api';
import type { Count, Reason, StreamConnection, StreamReport } from '@sameriver/core';
import { countGap, countMissed } from './counts.ts';
import type { Desk } from './desk.ts';
import type { GapSource, LoadLevel } from './names.ts';
import {
  ATTR_GAP_SOURCE,
  ATTR_MISSED,
  ATTR_PROTOCOL_NAME,
  ATTR_REASON,
  ATTR_ROLE,
  EVENT_GAP,
} from './names.ts';
import { protocolName } from './protocol-names.ts';
import type { LiveConnection } from './record.ts';

export interface Loss {
  readonly source: GapSource;
  readonly missed: Count;
  /** What proved it. */
  readonly reason: Reason | undefined;
}

/** The load under which a connection is counted: that of its verdict, so that rates compare. */
export function levelOf(desk: Desk, live: LiveConnection): LoadLevel {
  return live.level ?? desk.probe.read().level;
}

/** Counts one gap and tells it. */
export function lose(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  { source, missed, reason }: Loss,
): void {
  const level = levelOf(desk, live);
  countGap(desk.tallyFor(live), desk.counter.labelsOf(connection), source, level, missed);
  if (missed !== 'unknown') live.missed += missed;
  desk.teller.tell(live, {
    name: EVENT_GAP,
    severity: 'ERROR',
    attributes: () => {
      const attributes: Attributes = {
        [ATTR_PROTOCOL_NAME]: protocolName(connection.protocol),
        [ATTR_ROLE]: connection.role,
        [ATTR_GAP_SOURCE]: source,
      };
      if (reason !== undefined) attributes[ATTR_REASON] = reason;
      if (missed !== 'unknown') attributes[ATTR_MISSED] = missed;
      return attributes;
    },
  });
}

function sourceOf({ migration }: StreamReport): GapSource {
  return migration === undefined ? 'reconnect' : 'migration';
}

/** What the verdict proves to be lost (G1); nothing where the number is unknown. */
export function loseByVerdict(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  report: StreamReport,
): void {
  const { missed, verdict } = report;
  if (missed === 'unknown' || missed === 0) return;
  lose(desk, connection, live, { source: sourceOf(report), missed, reason: verdict?.reason });
}

/** What the final reports prove beyond what was counted on the way. */
export function loseTheRest(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  reports: readonly StreamReport[],
): void {
  let more = -live.missed;
  for (const { missed } of reports) more += missed === 'unknown' ? 0 : missed;
  if (more <= 0) return;
  const source = reports.some(({ migration }) => migration !== undefined)
    ? 'migration'
    : 'reconnect';
  if (live.missed === 0) {
    lose(desk, connection, live, { source, missed: more, reason: live.verdict?.reason });
    return;
  }
  const label = desk.counter.labelsOf(connection);
  countMissed(desk.tallyFor(live), label, source, levelOf(desk, live), more);
  live.missed += more;
}
