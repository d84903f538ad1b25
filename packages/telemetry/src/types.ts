import type { Attributes, Context, MeterProvider, Span, Tracer } from '@opentelemetry/api';
import type { Role, StreamConnection, StreamObserver, Transport } from '@sameriver/core';
import type { InstrumentationErrorsReason } from './names.ts';

/** Which part of the instrumentation failed: the reason on `event_stream.instrumentation.errors`. */
export type InstrumentationErrorReason = InstrumentationErrorsReason;

/**
 * How a cursor or an epoch leaves the process: as it is, as the first 16 hex digits of its SHA-256,
 * or not at all.
 */
export type Capture = 'raw' | 'hash' | 'off';

export interface CaptureOptions {
  /** Default `raw`. */
  readonly cursor?: Capture;
  /** Default `raw`, but `hash` for an epoch that stems from a session id. */
  readonly epoch?: Capture;
}

/** Where moments are told: as log records, as span events, as both, or nowhere. */
export type EventMode = 'log' | 'span' | 'both' | 'off';

/**
 * At most `burst` events at once for one logical stream, and one more every `interval`
 * milliseconds. Twice as many gaps are let through, because a gap is what one looks for.
 */
export interface EventBudget {
  readonly burst: number;
  readonly interval: number;
}

/** A figure that reaches its limit lifts the load level; an absent limit is never reached. */
export interface LoadLimits {
  /** 0 to 1, over the last second. */
  readonly eventLoopUtilization?: number;
  /** p99 in milliseconds. */
  readonly eventLoopDelay?: number;
  readonly activeStreams?: number;
}

/** Milliseconds the event loop has been idle and active since it started. */
export interface LoopTimes {
  readonly idle: number;
  readonly active: number;
}

/** Delays of the event loop, in milliseconds. */
export interface DelayWatch {
  p99(): number;
  reset(): void;
  stop(): void;
}

export interface LoadSource {
  loopTimes(): LoopTimes;
  /** Begins to sample delays. */
  watchDelay(): DelayWatch;
  /** Calls back every `interval` milliseconds without keeping the process alive. */
  every(interval: number, callback: () => void): () => void;
}

export interface LoadOptions {
  /** Default: utilization 0.7, delay 50 ms. */
  readonly elevated?: LoadLimits;
  /** Default: utilization 0.9, delay 200 ms. */
  readonly high?: LoadLimits;
}

/** The fill of one replay window. */
export interface ReplayWindow {
  /** The protocol name of its streams on `event_stream.server.replay.size`; default `sse`. */
  readonly protocol?: string;
  /** Events held. */
  readonly usage: number;
  /** Events that can be held. */
  readonly limit: number;
}

/**
 * The part of a Logs API logger that is used. Stated here because `@opentelemetry/api` 1.9 has no
 * such type; a `Logger` of `@opentelemetry/api-logs` or of api 1.10 fits.
 */
export interface EventLogger {
  emit(record: {
    eventName?: string;
    severityNumber?: number;
    severityText?: string;
    attributes?: Attributes;
    context?: Context;
  }): void;
  enabled?(options?: { context?: Context; severityNumber?: number; eventName?: string }): boolean;
}

/** What a tap knows when a connection begins. */
export interface ConnectionStart {
  /** The context of the application's call (client) or of the request's handler (server). */
  readonly context: Context;
  /** Milliseconds since the epoch, when the attempt began earlier than this call. */
  readonly startTime?: number;
  /**
   * Attributes of the connect or accept span, in names of OpenTelemetry (`server.address`,
   * `http.request.method`). Never a query string.
   */
  readonly attributes?: Attributes;
  /** The HTTP span that carries this stream, when it is already known. */
  readonly httpSpan?: Span;
  /** The attempt already has an HTTP span elsewhere, so none should become a child of ours. */
  readonly requestHasSpan?: boolean;
  /**
   * Whoever makes the HTTP span of this request never ends it, as happens to a WebSocket handshake:
   * it is ended together with the connect span, unless it has ended by then.
   */
  readonly endsHttpSpan?: boolean;
}

/**
 * Turns what is known of connections into spans, log records and metrics. Call it from a tap, and
 * give it to the timeline as its observer. It never throws: a failure of its own is counted as
 * `event_stream.instrumentation.errors{reason="telemetry"}`.
 *
 * `connection.context` is its slot.
 */
export interface StreamRecorder extends StreamObserver {
  /** The attempt begins (client), the request arrived (server): starts the connect or accept span. */
  opened(connection: StreamConnection, start: ConnectionStart): void;
  /**
   * No response at all: an attempt, not a connection (R1).
   *
   * @param errorType Low-cardinality `error.type`, such as `ECONNREFUSED`.
   */
  noResponse(connection: StreamConnection, errorType: string): void;
  /**
   * The answer is no stream and never will be: ends the span without a verdict. To be called when
   * `connection.response()` returned false; does nothing when the connection has ended already.
   */
  notStream(connection: StreamConnection): void;
  /**
   * The context in which the HTTP client span of this attempt should be created, so that it
   * becomes a child of the connect span; `StreamSpanProcessor` recognises that child by it.
   *
   * @returns `undefined` when there is no span to be a child of.
   */
  attemptContext(connection: StreamConnection): Context | undefined;
  /** Sets attributes on the connect or accept span and on the HTTP span, while they record. */
  describe(connection: StreamConnection, attributes: Attributes): void;
  /** The HTTP span that carries this stream: the verdict is set on it as well. */
  carriedBy(connection: StreamConnection, span: Span): void;
  /** A part of the instrumentation failed and switched itself off. */
  instrumentationError(reason: InstrumentationErrorReason): void;
  /** A tracer to use from now on, instead of the global provider's. */
  setTracer(tracer: Tracer): void;
  /** A meter provider to use from now on; a provider that does nothing leaves late binding on. */
  setMeterProvider(provider: MeterProvider): void;
  /** Where log records go; without a logger there are none. */
  setLogger(logger: EventLogger | undefined): void;
  /** Ends open spans, forgets every stream and stops all timers. Counts stay. */
  disable(): void;
}

/**
 * Where metrics go: to the OpenTelemetry SDK, to a registry of Prometheus that this process exposes
 * (`@sameriver/prometheus`), or to both, under the same names.
 */
export type MetricsMode = 'otel' | 'prometheus' | 'both';

export interface RecorderOptions {
  /** Instrumentation scope of spans. Metrics have one for all recorders of a process. */
  readonly name: string;
  readonly version?: string;
  /** Roles whose series exist from the start with value 0. Default: both. */
  readonly roles?: readonly Role[];
  /** The protocol of those series. Default `sse`. */
  readonly transport?: Transport;
  readonly capture?: CaptureOptions;
  /** Default: `prometheus` as soon as there is such a registry, else `otel`. */
  readonly metrics?: MetricsMode;
  /** Default `log`. */
  readonly events?: EventMode;
  /** Default: 10 at once, one more every 6 s. */
  readonly eventBudget?: EventBudget;
  readonly load?: LoadOptions;
  /** A re-origination is an error of the connect or accept span. Default false. */
  readonly markReoriginatedAsError?: boolean;
  /** Where load is measured. Default: this process. */
  readonly loadSource?: LoadSource;
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}
