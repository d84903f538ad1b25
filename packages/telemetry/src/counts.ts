import type { Count, Migration, Role, Verdict } from '@sameriver/core';
import type { MetricDefinition } from './metric-definitions.ts';
import {
  METRIC_CLIENT_CONNECTION_ACTIVE,
  METRIC_CLIENT_DUPLICATE_EVENTS,
  METRIC_CLIENT_GAPS,
  METRIC_CLIENT_MISSED_EVENTS,
  METRIC_CLIENT_RECEIVED_EVENTS,
  METRIC_CLIENT_RECONNECTS,
  METRIC_CLIENT_REORIGINATIONS,
  METRIC_INSTRUMENTATION_ERRORS,
  METRIC_MIGRATIONS,
  METRIC_SERVER_CONNECTION_ACTIVE,
  METRIC_SERVER_DUPLICATE_EVENTS,
  METRIC_SERVER_GAPS,
  METRIC_SERVER_MISSED_EVENTS,
  METRIC_SERVER_RECONNECTS,
  METRIC_SERVER_REORIGINATIONS,
  METRIC_SERVER_SENT_EVENTS,
} from './metric-definitions.ts';
import type { GapSource, LoadLevel } from './names.ts';
import {
  GAP_SOURCE_VALUES,
  INSTRUMENTATION_ERRORS_REASON_VALUES,
  LOAD_LEVEL_VALUES,
  MIGRATION_OUTCOME_VALUES,
} from './names.ts';
import type { Tally } from './tally.ts';
import type { InstrumentationErrorReason } from './types.ts';
import { isByDesign, possibleVerdicts } from './verdict-space.ts';

type RoleMetric =
  | 'reconnects'
  | 'reoriginations'
  | 'gaps'
  | 'missed'
  | 'duplicates'
  | 'events'
  | 'active';

const METRICS: Readonly<Record<Role, Readonly<Record<RoleMetric, MetricDefinition>>>> = {
  client: {
    reconnects: METRIC_CLIENT_RECONNECTS,
    reoriginations: METRIC_CLIENT_REORIGINATIONS,
    gaps: METRIC_CLIENT_GAPS,
    missed: METRIC_CLIENT_MISSED_EVENTS,
    duplicates: METRIC_CLIENT_DUPLICATE_EVENTS,
    events: METRIC_CLIENT_RECEIVED_EVENTS,
    active: METRIC_CLIENT_CONNECTION_ACTIVE,
  },
  server: {
    reconnects: METRIC_SERVER_RECONNECTS,
    reoriginations: METRIC_SERVER_REORIGINATIONS,
    gaps: METRIC_SERVER_GAPS,
    missed: METRIC_SERVER_MISSED_EVENTS,
    duplicates: METRIC_SERVER_DUPLICATE_EVENTS,
    events: METRIC_SERVER_SENT_EVENTS,
    active: METRIC_SERVER_CONNECTION_ACTIVE,
  },
};

/** Whose connection is counted: labels that every series of a role carries. */
export interface Counted {
  readonly role: Role;
  /** A bounded protocol label. */
  readonly protocol: string;
}

/** One reconnect, and the re-origination that it may be. */
export function countVerdict(
  tally: Tally,
  { role, protocol }: Counted,
  verdict: Verdict,
  level: LoadLevel,
): void {
  const { classification, reason } = verdict;
  tally.add(METRICS[role].reconnects, [protocol, classification, reason, level], 1);
  countReorigination(tally, { role, protocol }, verdict, level);
}

/** R16: a revision adds its re-origination; the reconnect keeps the series it was counted in. */
export function countReorigination(
  tally: Tally,
  { role, protocol }: Counted,
  verdict: Verdict,
  level: LoadLevel,
): void {
  if (verdict.classification !== 'reoriginated' || isByDesign(verdict)) return;
  tally.add(METRICS[role].reoriginations, [protocol, verdict.reason, level], 1);
}

/** One gap; G1: a loss of unknown size adds no missed events. */
export function countGap(
  tally: Tally,
  { role, protocol }: Counted,
  source: GapSource,
  level: LoadLevel,
  missed: Count,
): void {
  tally.add(METRICS[role].gaps, [protocol, source, level], 1);
  if (missed !== 'unknown') countMissed(tally, { role, protocol }, source, level, missed);
}

/** One move to another transport, whatever became of it. */
export function countMigration(
  tally: Tally,
  protocol: string,
  { from, to, outcome }: Pick<Migration, 'from' | 'to' | 'outcome'>,
): void {
  tally.add(METRIC_MIGRATIONS, [protocol, from, to, outcome], 1);
}

/** More events that went missing in a gap already counted. */
export function countMissed(
  tally: Tally,
  { role, protocol }: Counted,
  source: GapSource,
  level: LoadLevel,
  missed: number,
): void {
  tally.add(METRICS[role].missed, [protocol, source, level], missed);
}

export function countEvents(tally: Tally, { role, protocol }: Counted, events: number): void {
  if (events > 0) tally.add(METRICS[role].events, [protocol], events);
}

export function countDuplicates(
  tally: Tally,
  { role, protocol }: Counted,
  level: LoadLevel,
  repeated: number,
): void {
  tally.add(METRICS[role].duplicates, [protocol, level], repeated);
}

export function clearActive(tally: Tally): void {
  tally.clear(METRIC_CLIENT_CONNECTION_ACTIVE);
  tally.clear(METRIC_SERVER_CONNECTION_ACTIVE);
}

export function countActive(tally: Tally, { role, protocol }: Counted): void {
  tally.add(METRICS[role].active, [protocol], 1);
}

/**
 * Creates every series of one protocol with value 0: Prometheus sees no increase in a series that
 * first appears with 1.
 */
export function zeroSeries(tally: Tally, { role, protocol }: Counted): void {
  const metrics = METRICS[role];
  tally.add(metrics.events, [protocol], 0);
  tally.add(metrics.active, [protocol], 0);
  for (const outcome of MIGRATION_OUTCOME_VALUES) {
    tally.add(METRIC_MIGRATIONS, [protocol, 'sse', 'websocket', outcome], 0);
  }
  for (const level of LOAD_LEVEL_VALUES) {
    tally.add(metrics.duplicates, [protocol, level], 0);
    for (const source of GAP_SOURCE_VALUES) {
      tally.add(metrics.gaps, [protocol, source, level], 0);
      tally.add(metrics.missed, [protocol, source, level], 0);
    }
    for (const { classification, reason } of possibleVerdicts(role, protocol)) {
      tally.add(metrics.reconnects, [protocol, classification, reason, level], 0);
      if (classification !== 'reoriginated' || reason === 'protocol_never_resumes') continue;
      tally.add(metrics.reoriginations, [protocol, reason, level], 0);
    }
  }
}

export function countError(tally: Tally, reason: InstrumentationErrorReason): void {
  tally.add(METRIC_INSTRUMENTATION_ERRORS, [reason], 1);
}

export function zeroErrors(tally: Tally): void {
  for (const reason of INSTRUMENTATION_ERRORS_REASON_VALUES) {
    tally.add(METRIC_INSTRUMENTATION_ERRORS, [reason], 0);
  }
}
