import type { Attributes } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Migration, StreamConnection, StreamReport } from '@sameriver/core';
import { linkTo, onSpans } from './connect-spans.ts';
import { countMigration } from './counts.ts';
import type { Desk } from './desk.ts';
import {
  ATTR_MISSED,
  ATTR_PROTOCOL_NAME,
  ATTR_REASON,
  ATTR_ROLE,
  EVENT_MIGRATE,
  SPAN_STREAM_MIGRATE,
} from './names.ts';
import { protocolName } from './protocol-names.ts';
import type { LiveConnection } from './record.ts';
import { memoOf } from './record.ts';
import { migrationAttributes } from './report-attributes.ts';

/** Counts and tells a move to another transport, once its verdict is there (M1 to M4). */
export function tellMigration(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  report: StreamReport,
): void {
  const { migration } = report;
  if (migration === undefined) return;
  const { protocol } = desk.counter.labelsOf(connection);
  countMigration(desk.tallyFor(live), protocol, migration);
  const attributes = (): Attributes => attributesOf(connection, report, migration);
  if (!live.migrated) {
    onSpans(live, desk.failed, () => addSpan(desk, connection, live, migration, attributes));
  }
  live.migrated = true;
  const { outcome } = migration;
  const severity = outcome === 'lossy' || outcome === 'refused' ? 'WARN' : 'INFO';
  desk.teller.tell(live, { name: EVENT_MIGRATE, severity, attributes });
}

function attributesOf(
  connection: StreamConnection,
  { verdict, missed }: StreamReport,
  migration: Migration,
): Attributes {
  const attributes: Attributes = {
    [ATTR_PROTOCOL_NAME]: protocolName(connection.protocol),
    [ATTR_ROLE]: connection.role,
    ...migrationAttributes(migration),
  };
  if (verdict !== undefined) attributes[ATTR_REASON] = verdict.reason;
  if (missed !== 'unknown') attributes[ATTR_MISSED] = missed;
  return attributes;
}

/**
 * Made only when it is over: that a stream moves may show as late as in its first frame, and what
 * announced the move was another request.
 */
function addSpan(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  { askedAt }: Migration,
  attributes: () => Attributes,
): void {
  const { connect } = live;
  if (connect?.isRecording() !== true) return;
  const left = memoOf(connection.previous)?.spanContext;
  const links = [linkTo(connect.spanContext(), 'next_connection')];
  if (left !== undefined) links.unshift(linkTo(left, 'previous_connection'));
  const end = Date.now();
  const span = desk.tracers.current()?.startSpan(
    SPAN_STREAM_MIGRATE,
    {
      kind: connection.role === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
      attributes: attributes(),
      links,
      startTime: end - Math.max(0, desk.now() - askedAt),
    },
    trace.setSpan(live.context ?? ROOT_CONTEXT, live.root ?? connect),
  );
  span?.end(end);
}
