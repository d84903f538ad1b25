import type { Context } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan, Sampler } from '@opentelemetry/sdk-trace';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { afterEach, describe, expect, test } from 'vitest';
import type { FakeConnection, Telemetry } from '../test/harness.ts';
import {
  BY_DESIGN,
  connection,
  disableRecorders,
  moved,
  REFUSED,
  REORIGINATED,
  RESUMED,
  report,
  telemetry,
  UNVERIFIABLE,
} from '../test/harness.ts';
import type { StreamMemo } from './record.ts';

const start = { context: ROOT_CONTEXT };

afterEach(disableRecorders);

/** The connection that a timeline would open after `before`. */
function after(before: FakeConnection, facts: Partial<FakeConnection> = {}): FakeConnection {
  const ordinal = before.ordinal + 1;
  return connection({ ordinal, resumeRequested: true, previous: before.context, ...facts });
}

function linksOf({ links }: ReadableSpan): readonly unknown[] {
  return links.map(({ context, attributes }) => [
    attributes?.['event_stream.link.type'],
    context.spanId,
  ]);
}

/** Opens a first connection of the client and lets it settle. */
function firstConnection({ recorder }: Telemetry): FakeConnection {
  const first = connection();
  recorder.opened(first, start);
  recorder.settled(first, report());
  return first;
}

describe('the span of a first connection', () => {
  test('is a child of the active span, and ends while the stream is open', () => {
    const t = telemetry();
    const page = t.start('GET /page');
    const first = connection();
    t.recorder.opened(first, { context: trace.setSpan(ROOT_CONTEXT, page) });
    expect(t.spans()).toEqual([]);
    t.recorder.settled(first, report({ epoch: 'a' }));
    const span = t.span('sse connect');
    expect(span.kind).toBe(SpanKind.CLIENT);
    expect(span.parentSpanContext?.spanId).toBe(page.spanContext().spanId);
    expect(span.links).toEqual([]);
    expect(span.attributes).toEqual({
      'event_stream.protocol.name': 'sse',
      'event_stream.role': 'client',
      'event_stream.connection.ordinal': 0,
      'event_stream.resume.requested': false,
      'event_stream.epoch': 'a',
    });
  });

  test('has an INTERNAL root where it would be a root, and both end together', () => {
    const t = telemetry();
    firstConnection(t);
    const [connect, root] = t.spans();
    expect(t.spans()).toHaveLength(2);
    expect([root?.name, root?.kind]).toEqual(['stream connect', SpanKind.INTERNAL]);
    expect(root?.parentSpanContext).toBeUndefined();
    expect(connect?.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
  });

  test('carries what the tap knows, and begins when the attempt began', () => {
    const t = telemetry();
    const first = connection();
    const attributes = { 'server.address': 'example.org', 'server.port': 443 };
    t.recorder.opened(first, { ...start, attributes, startTime: 1_700_000_000_000 });
    t.recorder.settled(first, report());
    const span = t.span('sse connect');
    expect(span.attributes).toMatchObject(attributes);
    expect(span.startTime).toEqual([1_700_000_000, 0]);
    expect(t.span('stream connect').startTime).toEqual([1_700_000_000, 0]);
  });

  test('tells the protocol that its first frames confirmed', () => {
    const t = telemetry();
    const first = connection();
    t.recorder.opened(first, start);
    first.protocol = 'mcp-2025';
    t.recorder.settled(first, report());
    for (const span of t.spans()) {
      expect(span.attributes['event_stream.protocol.name']).toBe('mcp_streamable_http');
    }
  });

  test('of a WebSocket has a name of its own', () => {
    const t = telemetry();
    const first = connection({ transport: 'websocket', protocol: 'websocket' });
    t.recorder.opened(first, start);
    t.recorder.settled(first, report());
    expect(t.spans().map(({ name }) => name)).toEqual(['websocket connect', 'stream connect']);
  });
});

describe('the span of a reconnect', () => {
  test('twenty reconnects make twenty traces of two levels, each linked to the one before', () => {
    const t = telemetry();
    // A reconnect timer inherits the context in which the stream was opened.
    const page = t.start('GET /page');
    const context = trace.setSpan(ROOT_CONTEXT, page);
    let current = connection();
    t.recorder.opened(current, { context });
    t.recorder.settled(current, report());
    for (let i = 0; i < 20; i += 1) {
      t.recorder.ended(current, 'reset', [report()]);
      current = after(current);
      t.recorder.opened(current, { context });
      t.recorder.settled(current, report({ verdict: UNVERIFIABLE }));
    }
    const connects = t.spans().filter(({ name }) => name === 'sse connect');
    const roots = t.spans().filter(({ name }) => name === 'stream reconnect');
    expect([connects.length, roots.length, t.spans().length]).toEqual([21, 20, 41]);
    const traces = new Set(t.spans().map((span) => span.spanContext().traceId));
    expect(traces.size).toBe(21);
    roots.forEach((root, index) => {
      const connect = connects[index + 1];
      const before = connects[index];
      expect(root.parentSpanContext).toBeUndefined();
      expect(connect?.parentSpanContext?.spanId).toBe(root.spanContext().spanId);
      for (const span of [root, connect]) {
        expect(span && linksOf(span)).toEqual([
          ['previous_connection', before?.spanContext().spanId],
          ['creator', page.spanContext().spanId],
        ]);
        expect(span?.attributes).toMatchObject({
          'event_stream.connection.ordinal': index + 1,
          'event_stream.previous.trace_id': before?.spanContext().traceId,
        });
      }
    });
  });

  test('L1: with a stored cursor even the first connection of a process is one', () => {
    const t = telemetry();
    const first = connection({ resumeRequested: true });
    t.recorder.opened(first, start);
    t.recorder.settled(first, report({ verdict: RESUMED }));
    expect(t.span('stream reconnect').links).toEqual([]);
    expect(t.span('sse connect').attributes).toMatchObject({
      'event_stream.classification': 'resumed',
    });
  });

  test('carries the verdict, its evidence and the load at that moment', () => {
    const t = telemetry();
    const first = firstConnection(t);
    t.load.pass(1, 4);
    t.recorder.ended(first, 'reset', [report()]);
    const second = after(first);
    t.recorder.opened(second, start);
    t.recorder.settled(
      second,
      report({ verdict: REORIGINATED, requestedCursor: '4118', firstCursor: '13', missed: 22 }),
    );
    const span = t.spans().filter(({ name }) => name === 'sse connect')[1];
    expect(span?.attributes).toMatchObject({
      'event_stream.classification': 'reoriginated',
      'event_stream.reason': 'cursor_not_advanced',
      'event_stream.cursor.requested': '4118',
      'event_stream.cursor.first': '13',
      'event_stream.missed': 22,
      'event_stream.load.level': 'high',
      'event_stream.load.event_loop_utilization': 1,
      'event_stream.load.active_streams': 1,
    });
    expect(span?.attributes).not.toHaveProperty('event_stream.duplicates');
  });

  test('is linked late when only the first frames show which stream it continues', () => {
    const t = telemetry();
    const first = firstConnection(t);
    t.recorder.ended(first, 'eof', [report()]);
    const second = connection();
    t.recorder.opened(second, start);
    second.previous = first.context;
    second.ordinal = 1;
    t.recorder.settled(second, report({ verdict: UNVERIFIABLE }));
    const [before, span] = t.spans().filter(({ name }) => name === 'sse connect');
    expect(span && linksOf(span)).toEqual([['previous_connection', before?.spanContext().spanId]]);
    expect(span?.attributes).toMatchObject({
      'event_stream.connection.ordinal': 1,
      'event_stream.previous.trace_id': before?.spanContext().traceId,
    });
  });

  test('is remembered by a memo that holds no span and no earlier memo', () => {
    const t = telemetry();
    const first = firstConnection(t);
    t.recorder.ended(first, 'reset', [report()]);
    const second = after(first);
    t.recorder.opened(second, start);
    t.recorder.settled(second, report({ verdict: RESUMED }));
    t.recorder.ended(second, 'reset', [report()]);
    const memo = second.context as StreamMemo;
    expect(Object.keys(memo).sort()).toEqual(['downSince', 'live', 'paidUntil', 'spanContext']);
    expect(memo.live).toBeUndefined();
  });
});

describe('sampling', () => {
  test('a sampler sees role, protocol, number and request of the root it decides on', () => {
    const seen: unknown[] = [];
    const sampler: Sampler = {
      shouldSample(_context, _traceId, name, _kind, attributes) {
        seen.push([name, { ...attributes }]);
        return { decision: SamplingDecision.RECORD_AND_SAMPLED };
      },
      toString: () => 'recording sampler',
    };
    const t = telemetry({ sampler });
    t.recorder.opened(connection({ ordinal: 3, resumeRequested: true }), start);
    const attributes = {
      'event_stream.protocol.name': 'sse',
      'event_stream.role': 'client',
      'event_stream.connection.ordinal': 3,
      'event_stream.resume.requested': true,
    };
    expect(seen).toEqual([
      ['stream reconnect', attributes],
      ['sse connect', attributes],
    ]);
  });

  test('of an attempt that is not sampled there is one span, and no verdict attribute is built', async () => {
    let asked = 0;
    const sampler: Sampler = {
      shouldSample() {
        asked += 1;
        return { decision: SamplingDecision.NOT_RECORD };
      },
      toString: () => 'counting sampler',
    };
    const t = telemetry({ sampler });
    const second = connection({ ordinal: 1 });
    t.recorder.opened(second, start);
    const context = t.recorder.attemptContext(second);
    const carrier = context && trace.getSpanContext(context);
    expect(carrier?.traceFlags).toBe(0);
    expect(asked).toBe(1);
    let reads = 0;
    const watched = report({ verdict: RESUMED });
    Object.defineProperty(watched, 'epoch', { get: () => (reads += 1) });
    t.recorder.setLogger(undefined);
    t.recorder.settled(second, watched);
    expect(reads).toBe(0);
    expect(t.spans()).toEqual([]);
    expect(await moved(t.reader, 'event_stream.client.reconnects')).not.toEqual({});
  });
});

describe('status', () => {
  const settledWith = (t: Telemetry, facts: Partial<FakeConnection>, verdict = REFUSED) => {
    const one = connection({ ordinal: 1, ...facts });
    t.recorder.opened(one, start);
    t.recorder.settled(one, report({ verdict }));
  };

  test('R1: a refused connect is an error with the reason as its type', () => {
    const t = telemetry();
    settledWith(t, {});
    expect(t.span('sse connect').status.code).toBe(SpanStatusCode.ERROR);
    expect(t.span('sse connect').attributes['error.type']).toBe('stream_gone');
    expect(t.span('stream reconnect').status.code).toBe(SpanStatusCode.UNSET);
  });

  test('R1: a refusal is a proper answer of a server', () => {
    const t = telemetry();
    settledWith(t, { role: 'server' });
    expect(t.span('sse accept').status.code).toBe(SpanStatusCode.UNSET);
    expect(t.span('sse accept').attributes).not.toHaveProperty('error.type');
  });

  test.each([
    [false, REORIGINATED, SpanStatusCode.UNSET],
    [true, REORIGINATED, SpanStatusCode.ERROR],
    [true, BY_DESIGN, SpanStatusCode.UNSET],
    [true, RESUMED, SpanStatusCode.UNSET],
  ])('with markReoriginatedAsError %s, %o is status %i', (mark, verdict, code) => {
    const t = telemetry({ markReoriginatedAsError: mark });
    settledWith(t, {}, verdict);
    expect(t.span('sse connect').status.code).toBe(code);
  });

  test('R1: no response at all is an error of the attempt', () => {
    const t = telemetry();
    const one = connection();
    t.recorder.opened(one, start);
    t.recorder.noResponse(one, 'ECONNREFUSED');
    expect(t.span('sse connect').status.code).toBe(SpanStatusCode.ERROR);
    expect(t.span('sse connect').attributes['error.type']).toBe('ECONNREFUSED');
    t.recorder.ended(one, 'reset', []);
    expect(t.spans()).toHaveLength(2);
  });
});

describe('a connection without a verdict', () => {
  test('that is no stream leaves a span without one', () => {
    const t = telemetry();
    const one = connection();
    t.recorder.opened(one, start);
    t.recorder.notStream(one);
    expect(t.span('sse connect').status.code).toBe(SpanStatusCode.UNSET);
    expect(t.span('sse connect').attributes).not.toHaveProperty('event_stream.classification');
  });

  test('that ended before says how it ended', () => {
    const t = telemetry();
    const one = connection();
    t.recorder.opened(one, start);
    t.recorder.ended(one, 'aborted', [report()]);
    const { attributes } = t.span('sse connect');
    expect(attributes['event_stream.disconnect.reason']).toBe('aborted');
  });

  test('that its tap gave up is closed when another begins ten minutes later', () => {
    const t = telemetry();
    t.recorder.opened(connection(), start);
    t.now += 599_999;
    t.recorder.opened(connection(), start);
    expect(t.spans()).toEqual([]);
    t.now += 1;
    t.recorder.opened(connection(), start);
    expect(t.spans().map(({ name }) => name)).toEqual(['sse connect', 'stream connect']);
  });

  test('is closed when the recorder is disabled', () => {
    const t = telemetry();
    const one = connection();
    t.recorder.opened(one, start);
    t.recorder.disable();
    expect(t.span('sse connect').ended).toBe(true);
    t.recorder.settled(one, report({ verdict: RESUMED }));
    expect(t.spans()).toHaveLength(2);
  });
});

describe('the HTTP span that carries a client stream', () => {
  function withChild(t: Telemetry) {
    const second = connection({ ordinal: 1 });
    t.recorder.opened(second, start);
    const context = t.recorder.attemptContext(second);
    if (context === undefined) throw new Error('no context for the attempt');
    const tracer = t.tracers.getTracer('http');
    const http = tracer.startSpan('GET', { kind: SpanKind.CLIENT }, context);
    return { second, context, http };
  }

  test('is a child of the connect span, and has the verdict too', () => {
    const t = telemetry();
    const { second, http } = withChild(t);
    t.recorder.settled(second, report({ verdict: UNVERIFIABLE, requestedCursor: '7' }));
    http.end();
    const child = t.span('GET');
    const connect = t.span('sse connect');
    expect(child.parentSpanContext?.spanId).toBe(connect.spanContext().spanId);
    expect(child.attributes).toMatchObject({
      'event_stream.classification': 'unverifiable',
      'event_stream.cursor.requested': '7',
      'event_stream.load.level': 'low',
    });
  });

  test('R16: has the revision, when the connect span has ended long before', () => {
    const t = telemetry();
    const { second, http } = withChild(t);
    t.recorder.settled(second, report({ verdict: UNVERIFIABLE }));
    t.recorder.revised(second, report({ verdict: REORIGINATED, revised: true, missed: 4 }));
    http.end();
    expect(t.span('GET').attributes).toMatchObject({
      'event_stream.classification': 'reoriginated',
      'event_stream.reason': 'cursor_not_advanced',
      'event_stream.revised': true,
      'event_stream.missed': 4,
    });
    const connect = t.span('sse connect').attributes;
    expect(connect['event_stream.classification']).toBe('unverifiable');
  });

  test('has the final counts and the end', () => {
    const t = telemetry();
    const { second, http } = withChild(t);
    t.recorder.settled(second, report({ verdict: RESUMED, missed: 0, duplicates: 0 }));
    const final = report({ verdict: RESUMED, missed: 0, duplicates: 6, lastCursor: '99' });
    t.recorder.ended(second, 'eof', [final]);
    http.end();
    expect(t.span('GET').attributes).toMatchObject({
      'event_stream.duplicates': 6,
      'event_stream.cursor.last': '99',
      'event_stream.disconnect.reason': 'eof',
    });
  });

  test('is no span that the request merely causes', () => {
    const t = telemetry();
    const { second, context, http } = withChild(t);
    const tracer = t.tracers.getTracer('http');
    const below = trace.setSpan(context, http);
    const grandchild = tracer.startSpan('dns', { kind: SpanKind.CLIENT }, below);
    const internal = tracer.startSpan('tls', { kind: SpanKind.INTERNAL }, context);
    t.recorder.settled(second, report({ verdict: RESUMED }));
    for (const span of [grandchild, internal, http]) span.end();
    expect(t.span('dns').attributes).toEqual({});
    expect(t.span('tls').attributes).toEqual({});
    expect(t.span('GET').attributes['event_stream.classification']).toBe('resumed');
  });

  test('of a redirect is that of the last hop (L6)', () => {
    const t = telemetry();
    const { second, context, http } = withChild(t);
    http.end();
    const hop = t.tracers.getTracer('http').startSpan('GET 2', { kind: SpanKind.CLIENT }, context);
    t.recorder.settled(second, report({ verdict: RESUMED }));
    hop.end();
    expect(t.span('GET').attributes).toEqual({});
    expect(t.span('GET 2').attributes['event_stream.classification']).toBe('resumed');
  });

  test('gets the verdict also when it is handed over after it', () => {
    const t = telemetry();
    const second = connection({ ordinal: 1 });
    t.recorder.opened(second, start);
    t.recorder.settled(second, report({ verdict: UNVERIFIABLE }));
    const http = t.start('GET');
    t.recorder.carriedBy(second, http);
    http.end();
    expect(t.span('GET').attributes).toMatchObject({
      'event_stream.classification': 'unverifiable',
      'event_stream.reason': 'no_window',
    });
  });

  test('R19: has the worst verdict of the streams it carries', () => {
    const t = telemetry();
    const { second, http } = withChild(t);
    for (const verdict of [RESUMED, REORIGINATED, UNVERIFIABLE]) {
      t.recorder.settled(second, report({ stream: verdict.reason, verdict }));
    }
    http.end();
    expect(t.span('GET').attributes['event_stream.classification']).toBe('reoriginated');
    expect(t.span('sse connect').attributes['event_stream.classification']).toBe('resumed');
  });

  test('is ended with the verdict where nobody else would end it, and by nobody twice', () => {
    const t = telemetry();
    const handshake = connection({ transport: 'websocket', ordinal: 1 });
    t.recorder.opened(handshake, { ...start, endsHttpSpan: true });
    const context = t.recorder.attemptContext(handshake) as Context;
    const http = t.tracers.getTracer('http').startSpan('GET', { kind: SpanKind.CLIENT }, context);
    t.recorder.carriedBy(handshake, http);
    t.recorder.settled(handshake, report({ verdict: RESUMED }));
    expect(http.isRecording()).toBe(false);
    expect(t.span('GET').attributes['event_stream.classification']).toBe('resumed');
    t.recorder.ended(handshake, 'close:1000', []);
    expect(t.spans().filter(({ name }) => name === 'GET')).toHaveLength(1);
  });

  test('is none of ours when the request has its span already', () => {
    const t = telemetry();
    const second = connection({ ordinal: 1 });
    t.recorder.opened(second, { ...start, requestHasSpan: true });
    expect(t.recorder.attemptContext(second)).toBeUndefined();
  });
});

describe('the span of a server', () => {
  test('is below the HTTP server span, in the trace of the client, and has no link', () => {
    const t = telemetry();
    const client = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 };
    const remote = trace.setSpanContext(ROOT_CONTEXT, { ...client, isRemote: true });
    const tracer = t.tracers.getTracer('http');
    const http = tracer.startSpan('GET /sse', { kind: SpanKind.SERVER }, remote);
    const earlier = connection({ role: 'server' });
    t.recorder.opened(earlier, start);
    t.recorder.settled(earlier, report());
    const one = after(earlier, { role: 'server' });
    t.recorder.opened(one, { context: trace.setSpan(remote, http), httpSpan: http });
    t.recorder.settled(one, report({ verdict: REORIGINATED, missed: 3, replayed: 2 }));
    http.end();
    const accept = t.spans().filter(({ name }) => name === 'sse accept')[1];
    expect(accept?.kind).toBe(SpanKind.INTERNAL);
    expect(accept?.spanContext().traceId).toBe(client.traceId);
    expect(accept?.parentSpanContext?.spanId).toBe(http.spanContext().spanId);
    expect(accept?.links).toEqual([]);
    for (const span of [accept, t.span('GET /sse')]) {
      expect(span?.attributes).toMatchObject({
        'event_stream.role': 'server',
        'event_stream.classification': 'reoriginated',
        'event_stream.missed': 3,
        'event_stream.replayed': 2,
      });
    }
  });

  test('finds its parent by the HTTP span alone, where the context has none', () => {
    const t = telemetry();
    const http = t.start('GET /sse');
    const one = connection({ role: 'server' });
    t.recorder.opened(one, { ...start, httpSpan: http });
    t.recorder.settled(one, report());
    const { parentSpanContext } = t.span('sse accept');
    expect(parentSpanContext?.spanId).toBe(http.spanContext().spanId);
  });
});
