import type { Role, StreamConnection, StreamReport, TimelineOptions } from '@sameriver/core';
import type { OriginIndex } from './origins/origin-index.ts';
import type { AskedRequest } from './tap.ts';
import type { CaptureOptions, EventBudget, EventMode, LoadOptions, MetricsMode } from './types.ts';

/** Options of every instrumentation; each may be left out. All times are milliseconds. */
export interface StreamOptions
  extends Pick<
    TimelineOptions,
    'profiles' | 'reconnectWindow' | 'identity' | 'streamKey' | 'closedStreams' | 'history'
  > {
  /** Follow the streams that this process reads. Default true. */
  readonly client?: boolean;
  /** Follow the streams that this process writes. Default true. */
  readonly server?: boolean;
  /** R16: how long after its answer a reconnect may stay without a verdict. Default 15,000. */
  readonly decisionTimeout?: number;
  /** How cursors and epochs leave the process. */
  readonly capture?: CaptureOptions;
  /**
   * Where metrics go. Default: to the registry that `@sameriver/prometheus` was given, where there
   * is one, else to OpenTelemetry.
   */
  readonly metrics?: MetricsMode;
  /** Where moments (a gap, a disconnect) are told. Default `log`. */
  readonly events?: EventMode;
  /** How many of them one stream may tell. */
  readonly eventBudget?: EventBudget;
  /**
   * Server: what several instances tell each other about who issued which ids, so that one which
   * never held a stream can say where its reader comes from. Default: each knows itself alone.
   */
  readonly originIndex?: OriginIndex;
  /** Where the load levels of this process begin. */
  readonly load?: LoadOptions;
  /** Mark the span of a re-originated reconnect as an error. Default false. */
  readonly markReoriginatedAsError?: boolean;
  /** Return true for a request whose stream is not to be followed. Must be quick. */
  readonly ignoreRequest?: (request: AskedRequest, role: Role) => boolean;
  /**
   * Hears of every stream that is up and of every verdict, also of one that is revised, after it was
   * recorded. What it throws is counted as `event_stream.instrumentation.errors{reason="observer"}`.
   */
  readonly reportHook?: (report: StreamReport, connection: StreamConnection) => void;
}
