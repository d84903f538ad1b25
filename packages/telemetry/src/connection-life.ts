import type { Context, Span } from '@opentelemetry/api';
import type { StreamConnection } from '@sameriver/core';
import {
  contextBelow,
  endSpans,
  isReconnect,
  markError,
  onSpans,
  startSpans,
} from './connect-spans.ts';
import type { Desk } from './desk.ts';
import { ATTR_CLASSIFICATION, ATTR_REASON } from './names.ts';
import { createLive, createMemo, liveOf, memoOf } from './record.ts';
import { connectionAttributes } from './report-attributes.ts';
import { withAttempt } from './span-processor.ts';
import { isSuppressed } from './tracer-binding.ts';
import type { ConnectionStart } from './types.ts';

/** The attempt begins, the request arrived. */
export function open(desk: Desk, connection: StreamConnection, start: ConnectionStart): void {
  desk.stopped = false;
  const previous = memoOf(connection.previous);
  const memo = createMemo(previous);
  connection.context = memo;
  // An exporter's own request: nothing of it is told, in no signal.
  if (isSuppressed(start.context)) return;
  const now = desk.now();
  desk.book.sweep(now, (forgotten) => endSpansOf(desk, forgotten));
  const live = createLive(memo, now, previous !== undefined);
  memo.live = live;
  live.http = start.httpSpan;
  live.endsHttp = start.endsHttpSpan === true;
  desk.counter.labelsOf(connection);
  desk.book.wait(connection);
  if (isReconnect(connection) && desk.exporting()) desk.probe.watch();
  const tracer = desk.tracers.current();
  if (tracer !== undefined) {
    onSpans(live, desk.failed, () =>
      startSpans(live, tracer, connection, previous?.spanContext, start),
    );
  }
  if (start.requestHasSpan === true) live.context = undefined;
}

function endSpansOf(desk: Desk, connection: StreamConnection): void {
  const live = liveOf(connection);
  if (live !== undefined) onSpans(live, desk.failed, () => endSpans(live));
}

/** The connection is over before it was one: no answer, or an answer that is no stream. */
export function dismiss(desk: Desk, connection: StreamConnection, errorType?: string): void {
  const live = liveOf(connection);
  if (live === undefined) return;
  desk.counter.count(connection, live);
  desk.book.leave(connection);
  onSpans(live, desk.failed, () => {
    if (errorType !== undefined) markError(live.connect, errorType);
    endSpans(live);
  });
  live.memo.downSince = live.outageSince;
  live.memo.live = undefined;
}

/** The context in which the attempt's HTTP client span becomes a child of the connect span. */
export function contextOf(
  connection: StreamConnection,
  carry: (connection: StreamConnection, span: Span) => void,
): Context | undefined {
  const live = liveOf(connection);
  const below = live && contextBelow(live);
  if (live?.connect === undefined || below === undefined) return undefined;
  const { spanId } = live.connect.spanContext();
  return withAttempt(below, spanId, (span) => carry(connection, span));
}

/** The HTTP span is known; the verdict may be, too. */
export function carry(connection: StreamConnection, span: Span): void {
  const live = liveOf(connection);
  if (live === undefined) return;
  live.http = span;
  const { verdict } = live;
  if (verdict === undefined || !span.isRecording()) return;
  span.setAttributes({
    ...connectionAttributes(connection),
    [ATTR_CLASSIFICATION]: verdict.classification,
    [ATTR_REASON]: verdict.reason,
  });
}

/** Ends every open span and forgets every stream; counts stay. */
export function stop(desk: Desk): void {
  desk.stopped = true;
  desk.book.empty((connection) => {
    const live = liveOf(connection);
    if (live === undefined) return;
    desk.counter.count(connection, live);
    endSpansOf(desk, connection);
    live.memo.live = undefined;
  });
  desk.probe.stop();
  desk.outlets.stop();
}
