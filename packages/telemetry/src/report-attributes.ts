import type { Attributes } from '@opentelemetry/api';
import type { Count, Migration, Origin, StreamConnection, StreamReport } from '@sameriver/core';
import { captured, epochCapture } from './capture.ts';
import type { LoadReading } from './load-level.ts';
import {
  ATTR_CLASSIFICATION,
  ATTR_CONNECTION_ORDINAL,
  ATTR_CURSOR_FIRST,
  ATTR_CURSOR_LAST,
  ATTR_CURSOR_REQUESTED,
  ATTR_DUPLICATES,
  ATTR_DUPLICATES_AT_LEAST,
  ATTR_EPOCH,
  ATTR_EPOCH_PREVIOUS,
  ATTR_LOAD_ACTIVE_STREAMS,
  ATTR_LOAD_EVENT_LOOP_UTILIZATION,
  ATTR_LOAD_LEVEL,
  ATTR_MIGRATION_FROM,
  ATTR_MIGRATION_OUTCOME,
  ATTR_MIGRATION_TO,
  ATTR_MISSED,
  ATTR_ORIGIN_CURSOR_NEWEST,
  ATTR_ORIGIN_EPOCH,
  ATTR_ORIGIN_EVENTS_AFTER,
  ATTR_ORIGIN_INSTANCE_ID,
  ATTR_PROTOCOL_NAME,
  ATTR_REASON,
  ATTR_REPLAYED,
  ATTR_RESUME_REQUESTED,
  ATTR_REVISED,
  ATTR_ROLE,
} from './names.ts';
import { protocolName } from './protocol-names.ts';
import type { Capture, CaptureOptions } from './types.ts';

/** What is known when the span is created, and what a sampler may decide by. */
export function connectionAttributes(connection: StreamConnection): Attributes {
  return {
    [ATTR_PROTOCOL_NAME]: protocolName(connection.protocol),
    [ATTR_ROLE]: connection.role,
    [ATTR_CONNECTION_ORDINAL]: connection.ordinal,
    [ATTR_RESUME_REQUESTED]: connection.resumeRequested,
  };
}

/** Everything a report says; what it does not know is absent. */
export function reportAttributes(report: StreamReport, capture: CaptureOptions): Attributes {
  const attributes: Attributes = {};
  if (report.verdict !== undefined) {
    attributes[ATTR_CLASSIFICATION] = report.verdict.classification;
    attributes[ATTR_REASON] = report.verdict.reason;
  }
  if (report.revised) attributes[ATTR_REVISED] = true;
  if (report.migration) Object.assign(attributes, migrationAttributes(report.migration));
  const epoch = epochCapture(capture.epoch, report.epochIsSession);
  setText(attributes, ATTR_EPOCH, captured(report.epoch, epoch));
  setText(attributes, ATTR_EPOCH_PREVIOUS, captured(report.previousEpoch, epoch));
  const cursor = capture.cursor ?? 'raw';
  setText(attributes, ATTR_CURSOR_REQUESTED, captured(report.requestedCursor, cursor));
  setText(attributes, ATTR_CURSOR_FIRST, captured(report.firstCursor, cursor));
  setText(attributes, ATTR_CURSOR_LAST, captured(report.lastCursor, cursor));
  if (report.origin) Object.assign(attributes, originAttributes(report.origin, capture));
  return Object.assign(attributes, countAttributes(report));
}

function originAttributes(origin: Origin, capture: CaptureOptions): Attributes {
  const { instance, epoch, newest, eventsAfter } = origin;
  const attributes: Attributes = {
    [ATTR_ORIGIN_INSTANCE_ID]: instance,
    [ATTR_ORIGIN_EVENTS_AFTER]: eventsAfter,
  };
  setText(attributes, ATTR_ORIGIN_EPOCH, originEpoch(epoch, capture.epoch));
  const last = newest === undefined ? undefined : String(newest);
  setText(attributes, ATTR_ORIGIN_CURSOR_NEWEST, captured(last, capture.cursor ?? 'raw'));
  return attributes;
}

/** An instance that hashes its epochs tells no more of them. */
function originEpoch(epoch: Origin['epoch'], how: Capture = 'raw'): string | undefined {
  if (how === 'off') return undefined;
  return how === 'raw' ? (epoch?.text ?? epoch?.digest) : epoch?.digest;
}

export function migrationAttributes({ from, to, outcome }: Migration): Attributes {
  return {
    [ATTR_MIGRATION_FROM]: from,
    [ATTR_MIGRATION_TO]: to,
    [ATTR_MIGRATION_OUTCOME]: outcome,
  };
}

/** The numbers of a report; G1: unknown is absent, never 0. */
export function countAttributes(report: StreamReport): Attributes {
  const attributes: Attributes = {};
  setCount(attributes, ATTR_MISSED, report.missed);
  setCount(attributes, ATTR_DUPLICATES, report.duplicates);
  if (report.atLeast && report.duplicates !== 'unknown')
    attributes[ATTR_DUPLICATES_AT_LEAST] = true;
  if (report.replayed !== undefined) attributes[ATTR_REPLAYED] = report.replayed;
  return attributes;
}

export function loadAttributes(load: LoadReading): Attributes {
  return {
    [ATTR_LOAD_LEVEL]: load.level,
    [ATTR_LOAD_EVENT_LOOP_UTILIZATION]: load.eventLoopUtilization,
    [ATTR_LOAD_ACTIVE_STREAMS]: load.activeStreams,
  };
}

function setText(attributes: Attributes, name: string, value: string | undefined): void {
  if (value !== undefined) attributes[name] = value;
}

function setCount(attributes: Attributes, name: string, value: Count): void {
  if (value !== 'unknown') attributes[name] = value;
}
