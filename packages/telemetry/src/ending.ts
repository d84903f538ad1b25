import type { Attributes } from '@opentelemetry/api';
import type { ConnectionEnd, StreamConnection, StreamReport } from '@sameriver/core';
import { captured } from './capture.ts';
import { describe, onSpans } from './connect-spans.ts';
import type { Desk } from './desk.ts';
import { disconnectReason } from './disconnect-reason.ts';
import {
  METRIC_CLIENT_CONNECTION_DURATION,
  METRIC_SERVER_CONNECTION_DURATION,
  METRIC_SERVER_REPLAY_SIZE,
} from './metric-definitions.ts';
import {
  ATTR_CURSOR_LAST,
  ATTR_DISCONNECT_REASON,
  ATTR_DUPLICATES,
  ATTR_DUPLICATES_AT_LEAST,
  ATTR_PROTOCOL_NAME,
  ATTR_ROLE,
  EVENT_DISCONNECT,
  EVENT_DUPLICATES,
} from './names.ts';
import { protocolName } from './protocol-names.ts';
import type { LiveConnection } from './record.ts';
import { countAttributes } from './report-attributes.ts';
import { recordingSpan } from './teller.ts';

/** Final figures on the span that still records, and the moments of an end. */
export function tellEnd(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  end: ConnectionEnd,
  reports: readonly StreamReport[],
): void {
  // In front of all that follows: a storm without listeners would make its closures for nobody.
  if (desk.teller.mayHear(live) || recordingSpan(live) !== undefined) {
    tellListeners(desk, connection, live, end, reports);
  }
}

function tellListeners(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  end: ConnectionEnd,
  reports: readonly StreamReport[],
): void {
  const disconnect = (): Attributes => ({
    [ATTR_DISCONNECT_REASON]: disconnectReason(end, connection),
  });
  const common = (): Attributes => ({
    [ATTR_PROTOCOL_NAME]: protocolName(connection.protocol),
    [ATTR_ROLE]: connection.role,
  });
  const [only, another] = reports;
  // With several logical streams a span cannot say whose figures these are.
  const final = another === undefined ? only : undefined;
  onSpans(live, desk.failed, () =>
    describe(live, () => ({ ...disconnect(), ...(final && finalAttributes(desk, final)) })),
  );
  for (const { duplicates, atLeast } of reports) {
    if (duplicates === 'unknown' || duplicates === 0) continue;
    const told: Attributes = { ...common(), [ATTR_DUPLICATES]: duplicates };
    if (atLeast) told[ATTR_DUPLICATES_AT_LEAST] = true;
    desk.teller.tell(live, { name: EVENT_DUPLICATES, severity: 'INFO', attributes: () => told });
  }
  if (live.phase !== 'up') return;
  desk.teller.tell(live, {
    name: EVENT_DISCONNECT,
    severity: 'INFO',
    attributes: () => ({ ...common(), ...disconnect(), ...(final && lastCursor(desk, final)) }),
  });
}

/** The histograms of a connection that is over. */
export function recordEnd(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  end: ConnectionEnd,
  reports: readonly StreamReport[],
): void {
  const instruments = desk.instruments();
  if (instruments === undefined) return;
  const exemplar = desk.exemplarOf(live);
  const { role, protocol } = desk.counter.labelsOf(connection);
  if (live.phase === 'up') {
    const server = role === 'server';
    const metric = server ? METRIC_SERVER_CONNECTION_DURATION : METRIC_CLIENT_CONNECTION_DURATION;
    const seconds = (desk.now() - live.openedAt) / 1_000;
    instruments.record(metric, [protocol, disconnectReason(end, connection)], seconds, exemplar);
  }
  for (const { verdict, replayed } of reports) {
    if (role !== 'server' || verdict === undefined || replayed === undefined) continue;
    instruments.record(METRIC_SERVER_REPLAY_SIZE, [protocol], replayed, exemplar);
  }
}

function finalAttributes(desk: Desk, report: StreamReport): Attributes {
  return { ...countAttributes(report), ...lastCursor(desk, report) };
}

function lastCursor({ capture }: Desk, report: StreamReport): Attributes {
  const last = captured(report.lastCursor, capture.cursor ?? 'raw');
  return last === undefined ? {} : { [ATTR_CURSOR_LAST]: last };
}
