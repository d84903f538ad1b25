import type {
  Attributes,
  Context,
  Link,
  Span,
  SpanContext,
  SpanOptions,
  Tracer,
} from '@opentelemetry/api';
import { isSpanContextValid, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { StreamConnection } from '@sameriver/core';
import type { LinkType } from './names.ts';
import {
  ATTR_ERROR_TYPE,
  ATTR_LINK_TYPE,
  ATTR_PREVIOUS_TRACE_ID,
  SPAN_SSE_ACCEPT,
  SPAN_SSE_CONNECT,
  SPAN_STREAM_CONNECT,
  SPAN_STREAM_RECONNECT,
  SPAN_WEBSOCKET_ACCEPT,
  SPAN_WEBSOCKET_CONNECT,
} from './names.ts';
import type { LiveConnection, StreamMemo } from './record.ts';
import { connectionAttributes } from './report-attributes.ts';
import type { ConnectionStart } from './types.ts';

const NAMES = {
  client: { sse: SPAN_SSE_CONNECT, websocket: SPAN_WEBSOCKET_CONNECT },
  server: { sse: SPAN_SSE_ACCEPT, websocket: SPAN_WEBSOCKET_ACCEPT },
} as const;

/**
 * Starts the span of a connection, and the root above it where it would be a root of kind CLIENT.
 *
 * @param previous Span of the connection before this one on the logical stream.
 */
export function startSpans(
  live: LiveConnection,
  tracer: Tracer,
  connection: StreamConnection,
  previous: SpanContext | undefined,
  start: ConnectionStart,
): void {
  if (connection.role === 'server') startAccept(live, tracer, connection, start);
  else startConnect(live, tracer, connection, previous, start);
  const spanContext = live.connect?.spanContext();
  if (spanContext === undefined || !isSpanContextValid(spanContext)) {
    live.connect = live.root = undefined;
    return;
  }
  live.memo.spanContext = spanContext;
  live.context = start.context;
}

function startAccept(
  live: LiveConnection,
  tracer: Tracer,
  connection: StreamConnection,
  { context, httpSpan, attributes, startTime }: ConnectionStart,
): void {
  // Mostly the active one already, and another context would be a copy of this one.
  const isActive = httpSpan === undefined || trace.getSpan(context) === httpSpan;
  const parent = isActive ? context : trace.setSpan(context, httpSpan);
  const own = connectionAttributes(connection);
  const options: SpanOptions = { kind: SpanKind.INTERNAL, attributes: own };
  if (attributes !== undefined) options.attributes = { ...attributes, ...own };
  if (startTime !== undefined) options.startTime = startTime;
  live.connect = tracer.startSpan(NAMES.server[connection.transport], options, parent);
}

function startConnect(
  live: LiveConnection,
  tracer: Tracer,
  connection: StreamConnection,
  previous: SpanContext | undefined,
  start: ConnectionStart,
): void {
  const reconnect = isReconnect(connection);
  const active = trace.getSpanContext(start.context);
  const creator = active !== undefined && isSpanContextValid(active) ? active : undefined;
  const common = { ...connectionAttributes(connection), ...traceIdOf(previous) };
  const links = reconnect ? linksTo(previous, creator) : [];
  const connectBelow = (parent: Context): Span => {
    const attributes = { ...start.attributes, ...common };
    const options = { kind: SpanKind.CLIENT, links, attributes, ...at(start.startTime) };
    return tracer.startSpan(NAMES.client[connection.transport], options, parent);
  };
  if (!reconnect && creator !== undefined) {
    live.connect = connectBelow(start.context);
    return;
  }
  const root = tracer.startSpan(
    reconnect ? SPAN_STREAM_RECONNECT : SPAN_STREAM_CONNECT,
    { kind: SpanKind.INTERNAL, root: true, links, attributes: common, ...at(start.startTime) },
    start.context,
  );
  const sampled = root.isRecording();
  // Not sampled: one span that propagates the decision is enough.
  live.root = sampled ? root : undefined;
  live.connect = sampled ? connectBelow(trace.setSpan(start.context, root)) : root;
}

/** A stored cursor makes even the first connection of a process a reconnect (L1). */
export function isReconnect(connection: StreamConnection): boolean {
  return connection.ordinal > 0 || connection.resumeRequested;
}

function linksTo(previous: SpanContext | undefined, creator: SpanContext | undefined): Link[] {
  const links: Link[] = [];
  if (previous !== undefined) links.push(linkTo(previous, 'previous_connection'));
  if (creator !== undefined) links.push(linkTo(creator, 'creator'));
  return links;
}

export function linkTo(context: SpanContext, type: LinkType): Link {
  return { context, attributes: { [ATTR_LINK_TYPE]: type } };
}

/** A profile that is confirmed by the first frames may tie the connection to an older stream. */
export function linkLate(live: LiveConnection, previous: StreamMemo | undefined): void {
  if (previous === undefined || live.previousKnown || previous === live.memo) return;
  live.previousKnown = true;
  live.outageSince = previous.downSince;
  live.memo.paidUntil = Math.max(live.memo.paidUntil, previous.paidUntil);
  const { spanContext } = previous;
  if (spanContext === undefined || live.connect?.isRecording() !== true) return;
  live.connect.addLink(linkTo(spanContext, 'previous_connection'));
  live.connect.setAttributes(traceIdOf(spanContext));
}

function traceIdOf(previous: SpanContext | undefined): Attributes {
  return previous === undefined ? {} : { [ATTR_PREVIOUS_TRACE_ID]: previous.traceId };
}

function at(startTime: number | undefined): { startTime?: number } {
  return startTime === undefined ? {} : { startTime };
}

/** Where an HTTP span becomes a child of the connect span. */
export function contextBelow(live: LiveConnection): Context | undefined {
  if (live.connect === undefined || live.context === undefined) return undefined;
  return trace.setSpan(live.context, live.connect);
}

/** Sets attributes on every span of the connection that still records, and builds them only then. */
export function describe(live: LiveConnection, attributes: () => Attributes): void {
  const { connect, http } = live;
  const toConnect = connect?.isRecording() === true;
  const toHttp = http?.isRecording() === true;
  if (!toConnect && !toHttp) return;
  const built = attributes();
  if (toConnect) connect.setAttributes(built);
  if (toHttp) http.setAttributes(built);
}

export function markError(span: Span | undefined, errorType: string): void {
  span?.setStatus({ code: SpanStatusCode.ERROR });
  span?.setAttribute(ATTR_ERROR_TYPE, errorType);
}

/**
 * Runs a step on the spans of a connection. Spans run code of the SDK and of its processors: where
 * that throws the connection goes on without spans, and its counts and records are as they would be.
 */
export function onSpans(live: LiveConnection, failed: () => void, step: () => void): void {
  try {
    step();
  } catch {
    failed();
    const spans = [live.connect, live.root, live.endsHttp ? live.http : undefined];
    live.connect = live.root = live.http = live.context = undefined;
    for (const span of spans) endSilently(span);
  }
}

function endSilently(span: Span | undefined): void {
  try {
    if (span?.isRecording()) span.end();
  } catch {
    // Its failure is counted already.
  }
}

export function endSpans(live: LiveConnection): void {
  // Ending a span twice is reported as a mistake.
  if (live.endsHttp && live.http?.isRecording()) live.http.end();
  live.connect?.end();
  live.root?.end();
  live.connect = live.root = live.context = undefined;
}
