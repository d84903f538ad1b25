import type { HeaderLookup, Role, StreamTimeline } from '@sameriver/core';
import type { StreamRecorder } from './types.ts';

/** The part of a request that an application may decide by. */
export interface AskedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Takes lower-case names. */
  readonly header: HeaderLookup;
}

/** What a tap works with: one for each role. */
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
  ignore?(request: AskedRequest): boolean;
}

/**
 * Undoes everything the tap has installed. Connections still open are ended as `aborted`, and
 * nothing is recorded after it.
 */
export type StopTap = () => void;

export type StartTap = (host: TapHost) => StopTap;

/** One transport, tapped at either end. */
export type Taps = Readonly<Record<Role, StartTap>>;
