import type { Attributes } from '@opentelemetry/api';
import type {
  ConnectionEnd,
  InStreamFinding,
  StreamConnection,
  StreamObserver,
  StreamReport,
  Verdict,
} from '@sameriver/core';
import { describe, endSpans, linkLate, markError, onSpans } from './connect-spans.ts';
import { countReorigination, countVerdict } from './counts.ts';
import type { Desk } from './desk.ts';
import { recordEnd, tellEnd } from './ending.ts';
import type { LoadReading } from './load-level.ts';
import { levelOf, lose, loseByVerdict, loseTheRest } from './losses.ts';
import {
  METRIC_CLIENT_OUTAGE_DURATION,
  METRIC_RECONNECT_EVENT_LOOP_UTILIZATION,
} from './metric-definitions.ts';
import { tellMigration } from './migrations.ts';
import { EVENT_RECONNECT } from './names.ts';
import type { LiveConnection } from './record.ts';
import { createLive, createMemo, liveOf, memoOf } from './record.ts';
import { connectionAttributes, loadAttributes, reportAttributes } from './report-attributes.ts';
import { recordingSpan } from './teller.ts';
import { isByDesign } from './verdict-space.ts';
import { isWorse, severityOf } from './worst-verdict.ts';

/** Turns what the timeline reports into signals. */
export function createObserver(desk: Desk): StreamObserver {
  return {
    settled: (connection, report) => settle(desk, connection, report),
    revised: (connection, report) => revise(desk, connection, report),
    inStream: (connection, finding) => find(desk, connection, finding),
    ended: (connection, end, reports) => finish(desk, connection, end, reports),
  };
}

function settle(desk: Desk, connection: StreamConnection, report: StreamReport): void {
  const live = followed(desk, connection);
  if (live === undefined) return;
  if (connection.role === 'client') {
    onSpans(live, desk.failed, () => linkLate(live, memoOf(connection.previous)));
  }
  enter(desk, connection, live, report);
  const { verdict } = report;
  const load = verdict && judge(desk, connection, live, verdict);
  if (verdict !== undefined || recordingSpan(live) !== undefined) {
    const attributes = attributesOf(desk, connection, report, load);
    const worst = verdict === undefined || isWorse(verdict, live.verdict);
    if (worst) onSpans(live, desk.failed, () => describe(live, attributes));
    if (worst && verdict !== undefined) live.verdict = verdict;
    if (verdict !== undefined) {
      desk.teller.tell(live, { name: EVENT_RECONNECT, severity: severityOf(verdict), attributes });
    }
  }
  loseByVerdict(desk, connection, live, report);
  tellMigration(desk, connection, live, report);
  onSpans(live, desk.failed, () => finishSpans(desk, connection, live, verdict));
}

function revise(desk: Desk, connection: StreamConnection, report: StreamReport): void {
  const live = followed(desk, connection);
  const { verdict } = report;
  if (live === undefined || verdict === undefined) return;
  const label = desk.counter.labelsOf(connection);
  countReorigination(desk.tallyFor(live), label, verdict, levelOf(desk, live));
  live.verdict = verdict;
  const attributes = attributesOf(desk, connection, report, undefined);
  // The connect span has ended by now; the HTTP span lives as long as the stream.
  onSpans(live, desk.failed, () => describe(live, attributes));
  desk.teller.tell(live, { name: EVENT_RECONNECT, severity: severityOf(verdict), attributes });
  loseByVerdict(desk, connection, live, report);
}

function find(desk: Desk, connection: StreamConnection, { kind, missed }: InStreamFinding): void {
  const live = followed(desk, connection);
  if (live === undefined) return;
  lose(desk, connection, live, { source: 'in_stream', missed, reason: kind });
}

function finish(
  desk: Desk,
  connection: StreamConnection,
  end: ConnectionEnd,
  reports: readonly StreamReport[],
): void {
  const live = liveOf(connection);
  if (live === undefined) return;
  desk.counter.count(connection, live);
  desk.book.leave(connection);
  loseTheRest(desk, connection, live, reports);
  tellEnd(desk, connection, live, end, reports);
  recordEnd(desk, connection, live, end, reports);
  onSpans(live, desk.failed, () => endSpans(live));
  live.memo.downSince = live.phase === 'up' ? desk.now() : live.outageSince;
  live.memo.live = undefined;
}

// A timeline may be fed by a tap that never called `opened`: counted all the same, without a span.
function followed(desk: Desk, connection: StreamConnection): LiveConnection | undefined {
  if (connection.context !== undefined || desk.stopped) return liveOf(connection);
  const previous = memoOf(connection.previous);
  const memo = createMemo(previous);
  const live = createLive(memo, desk.now(), previous !== undefined);
  memo.live = live;
  connection.context = memo;
  return live;
}

function enter(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  { verdict }: StreamReport,
): void {
  if (live.phase === 'up') return;
  const refused = verdict?.classification === 'refused';
  live.phase = refused ? 'refused' : 'up';
  if (refused) {
    desk.counter.count(connection, live);
    desk.book.leave(connection);
    return;
  }
  desk.book.up(connection);
  if (desk.exporting()) desk.probe.watch();
}

function judge(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  verdict: Verdict,
): LoadReading {
  const load = desk.probe.read();
  const counted = desk.counter.labelsOf(connection);
  const { role, protocol } = counted;
  const { classification } = verdict;
  countVerdict(desk.tallyFor(live), counted, verdict, load.level);
  const instruments = desk.instruments();
  const exemplar = desk.exemplarOf(live);
  const utilization = load.eventLoopUtilization;
  const labels = [protocol, classification, role];
  instruments?.record(METRIC_RECONNECT_EVENT_LOOP_UTILIZATION, labels, utilization, exemplar);
  if (live.level !== undefined) return load;
  live.level = load.level;
  if (role === 'client' && live.outageSince !== undefined) {
    const outage = (desk.now() - live.outageSince) / 1_000;
    const ended = [protocol, classification];
    instruments?.record(METRIC_CLIENT_OUTAGE_DURATION, ended, outage, exemplar);
  }
  return load;
}

// Built at most once, and only when a span records or a logger listens (hashing is not free).
function attributesOf(
  desk: Desk,
  connection: StreamConnection,
  report: StreamReport,
  load: LoadReading | undefined,
): () => Attributes {
  let built: Attributes | undefined;
  return () => {
    built ??= {
      ...connectionAttributes(connection),
      ...reportAttributes(report, desk.capture),
      ...(load && loadAttributes(load)),
    };
    return built;
  };
}

function finishSpans(
  desk: Desk,
  connection: StreamConnection,
  live: LiveConnection,
  verdict: Verdict | undefined,
): void {
  if (live.connect === undefined) return;
  if (verdict !== undefined && isError(desk, connection, verdict)) {
    markError(live.connect, verdict.reason);
  }
  // The profile may have been confirmed since the root began.
  live.root?.setAttributes(connectionAttributes(connection));
  endSpans(live);
}

// A refusal fails the client's connect; for a server it is a proper answer.
function isError(desk: Desk, { role }: StreamConnection, verdict: Verdict): boolean {
  if (verdict.classification === 'refused') return role === 'client';
  if (verdict.classification !== 'reoriginated') return false;
  return desk.markReoriginatedAsError && !isByDesign(verdict);
}
