import type { StreamConnection, StreamObserver } from '@sameriver/core';

/**
 * Key of an option for the replay of recorded incidents, which has no time to wait for. No part of
 * the public configuration of any instrumentation: it may change with any version.
 */
export const replayControl: unique symbol = Symbol.for('sameriver.replay-control');

export interface ReplayControl {
  /** A connection begins; called before anything else is said about it. */
  readonly opened: (connection: StreamConnection) => void;
  /** Hears what the recorder hears, after it; must not throw. */
  readonly observer: StreamObserver;
  /** In the place of the decision timer (R16): keeps the callback, returns what forgets it. */
  readonly later: (callback: () => void) => () => void;
}

/** What the configuration of an instrumentation has beyond its own options for a replay. */
export interface ReplayOptions {
  readonly [replayControl]?: ReplayControl;
}
