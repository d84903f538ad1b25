import type { StreamTimeline } from '@sameriver/core';
import type { StreamRecorder } from '@sameriver/telemetry';

/** What a tap works with; the shell makes one for each role. */
export interface TapHost {
  readonly timeline: StreamTimeline;
  readonly recorder: Pick<
    StreamRecorder,
    'opened' | 'noResponse' | 'notStream' | 'attemptContext' | 'carriedBy' | 'instrumentationError'
  >;
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls back once after decisionTimeout, unref'd; returns a cancel function. */
  later(callback: () => void): () => void;
  /** Optional application hook: skip this request. */
  ignore?(request: {
    method: string;
    target: string;
    header(name: string): string | undefined;
  }): boolean;
}

/**
 * Undoes everything the tap has installed. Connections still open are ended as `aborted`, and
 * nothing is recorded after it.
 */
export type StopTap = () => void;
