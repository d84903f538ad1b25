import { describe, onSpans } from './connect-spans.ts';
import { carry, contextOf, dismiss, open, stop } from './connection-life.ts';
import { countError } from './counts.ts';
import { createDesk } from './desk.ts';
import { createObserver } from './observer.ts';
import { liveOf } from './record.ts';
import type { RecorderOptions, StreamRecorder } from './types.ts';

/**
 * Makes the recorder of one instrumentation scope, for both roles. It works before and without an
 * SDK: tracer and meter of the global providers are taken as soon as those exist.
 */
export function createRecorder(options: RecorderOptions): StreamRecorder {
  const desk = createDesk(options);
  const observer = createObserver(desk);

  // Inside a host application a failure of ours is counted, and nothing else.
  function contained<A extends readonly unknown[], R>(act: (...args: A) => R) {
    return (...args: A): R | undefined => {
      try {
        return act(...args);
      } catch {
        desk.failed();
        return undefined;
      }
    };
  }

  const carriedBy: StreamRecorder['carriedBy'] = contained(carry);
  return {
    opened: contained((connection, start) => open(desk, connection, start)),
    noResponse: contained((connection, errorType) => dismiss(desk, connection, errorType)),
    notStream: contained((connection) => dismiss(desk, connection)),
    attemptContext: contained((connection) => contextOf(connection, carriedBy)),
    describe: contained((connection, attributes) => {
      const live = liveOf(connection);
      if (live !== undefined) onSpans(live, desk.failed, () => describe(live, () => attributes));
    }),
    carriedBy,
    settled: contained(observer.settled),
    revised: contained(observer.revised),
    inStream: contained(observer.inStream),
    ended: contained(observer.ended),
    instrumentationError: (reason) => countError(desk.tally, reason),
    setTracer: desk.tracers.use,
    setMeterProvider: contained(desk.outlets.use),
    setLogger: desk.teller.setLogger,
    disable: contained(() => stop(desk)),
  };
}
