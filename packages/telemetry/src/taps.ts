import type {
  Role,
  StreamObserver,
  StreamTimeline,
  TimelineOptions,
  Transport,
} from '@sameriver/core';
import { joinTimeline } from '@sameriver/core';
import { createDeadlines } from './deadlines.ts';
import { withFacets, withRequests } from './facets.ts';
import { OriginObserver } from './origins/origin-observer.ts';
import type { ReplayControl, ReplayOptions } from './replay-control.ts';
import { replayControl } from './replay-control.ts';
import type { StreamOptions } from './stream-options.ts';
import type { StopTap, TapHost, Taps } from './tap.ts';
import type { StreamRecorder } from './types.ts';

/** What every instrumentation is configured by, whatever it taps. */
export interface TapOptions extends StreamOptions, Omit<TimelineOptions, 'observer'> {}

const DECISION_TIMEOUT = 15_000;
const ROLES: readonly Role[] = ['client', 'server'];

/**
 * Starts the taps that a configuration asks for, each on the timeline of its role: what a process
 * reads and what it writes are different streams, even under one URL. A timeline is shared with the
 * taps of other transports that have the same options (`joinTimeline`).
 *
 * @returns Stops them; what is still open is ended as `aborted`.
 * @throws SyntaxError when a profile of the configuration cannot be read.
 */
export function startTaps(
  transport: Transport,
  taps: Taps,
  config: TapOptions,
  recorder: StreamRecorder,
): StopTap {
  const control = (config as ReplayOptions)[replayControl];
  const heard = observed(observerOf(config, recorder), control?.observer);
  const origins = originsOf(config, recorder, heard);
  const observer = origins ?? heard;
  const stops = ROLES.filter((role) => config[role] !== false).map((role) => {
    const { timeline, leave } = joinTimeline(role, { ...config, transport, observer });
    const fed = announced(withRequests(timeline), control?.opened);
    const stop = taps[role](hostOf(role, fed, config, withFacets(recorder)));
    return () => {
      stop();
      leave();
    };
  });
  return () => {
    for (const stop of stops) stop();
    origins?.stop();
  };
}

/** Where no cursor may leave the process, none is told to an index either. */
function originsOf(
  { originIndex: index, capture = {}, server }: TapOptions,
  recorder: StreamRecorder,
  next: StreamObserver,
): OriginObserver | undefined {
  if (index === undefined || server === false || capture.cursor === 'off') return undefined;
  const failed = (): void => recorder.instrumentationError('origin_index');
  return new OriginObserver({ index, capture, now: () => performance.now(), failed }, next);
}

function hostOf(
  role: Role,
  timeline: StreamTimeline,
  config: TapOptions,
  recorder: StreamRecorder,
): TapHost {
  const { ignoreRequest, decisionTimeout = DECISION_TIMEOUT } = config;
  const control = (config as ReplayOptions)[replayControl];
  return {
    timeline,
    recorder,
    // A fraction would be an object of its own wherever the time is kept.
    now: () => Math.trunc(performance.now()),
    later: control?.later ?? createDeadlines(decisionTimeout),
    ...(ignoreRequest && { ignore: (request) => ignoreRequest(request, role) }),
  };
}

/** The recorder first, so that a hook finds on the span what it is told. */
function observerOf({ reportHook }: TapOptions, recorder: StreamRecorder): StreamObserver {
  if (reportHook === undefined) return recorder;
  const tell: StreamObserver['settled'] = (connection, report) => {
    try {
      reportHook(report, connection);
    } catch {
      recorder.instrumentationError('observer');
    }
  };
  return {
    settled: (connection, report) => {
      recorder.settled(connection, report);
      tell(connection, report);
    },
    revised: (connection, report) => {
      recorder.revised(connection, report);
      tell(connection, report);
    },
    inStream: recorder.inStream,
    ended: recorder.ended,
  };
}

function observed(first: StreamObserver, second: StreamObserver | undefined): StreamObserver {
  if (second === undefined) return first;
  return {
    settled: (...said) => {
      first.settled(...said);
      second.settled(...said);
    },
    revised: (...said) => {
      first.revised(...said);
      second.revised(...said);
    },
    inStream: (...said) => {
      first.inStream(...said);
      second.inStream(...said);
    },
    ended: (...said) => {
      first.ended(...said);
      second.ended(...said);
    },
  };
}

function announced(
  timeline: StreamTimeline,
  opened: ReplayControl['opened'] | undefined,
): StreamTimeline {
  if (opened === undefined) return timeline;
  return {
    wants: (request) => timeline.wants(request),
    open: (request, at) => {
      const connection = timeline.open(request, at);
      opened(connection);
      return connection;
    },
  };
}
