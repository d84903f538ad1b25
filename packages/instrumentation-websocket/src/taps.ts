import type { Role, StreamObserver, StreamTimeline } from '@sameriver/core';
import { createClientTimeline, createServerTimeline } from '@sameriver/core';
import type { StreamRecorder } from '@sameriver/telemetry';
import { startClientTap } from './client/client-tap.ts';
import type { ReplayControl } from './replay-control.ts';
import { replayControlOf } from './replay-control.ts';
import { startServerTap } from './server/server-tap.ts';
import type { StopTap, TapHost } from './tap.ts';
import type { WebSocketInstrumentationConfig } from './types.ts';

const DECISION_TIMEOUT = 15_000;

/**
 * Starts the taps that a configuration asks for, each with a timeline of its own: what a process
 * reads and what it writes are different streams, even under one URL.
 *
 * @throws SyntaxError when a profile of the configuration cannot be read.
 */
export function startTaps(
  config: WebSocketInstrumentationConfig,
  recorder: StreamRecorder,
): StopTap {
  const control = replayControlOf(config);
  const observer = observed(observerOf(config, recorder), control?.observer);
  const hostFor = (role: Role, timeline: StreamTimeline): TapHost => {
    const { ignoreRequest } = config;
    return {
      timeline: announced(timeline, control?.opened),
      recorder,
      now: () => performance.now(),
      later:
        control?.later ??
        ((callback) => later(callback, config.decisionTimeout ?? DECISION_TIMEOUT)),
      ...(ignoreRequest && { ignore: (request) => ignoreRequest(request, role) }),
    };
  };
  const { client = true, server = true } = config;
  const stops: StopTap[] = [];
  if (client) {
    stops.push(startClientTap(hostFor('client', createClientTimeline({ ...config, observer }))));
  }
  if (server) {
    stops.push(startServerTap(hostFor('server', createServerTimeline({ ...config, observer }))));
  }
  return () => {
    for (const stop of stops) stop();
  };
}

function later(callback: () => void, delay: number): () => void {
  const timer = setTimeout(callback, delay);
  timer.unref();
  return () => clearTimeout(timer);
}

/** The recorder first, so that a hook finds on the span what it is told. */
function observerOf(
  config: WebSocketInstrumentationConfig,
  recorder: StreamRecorder,
): StreamObserver {
  const { reportHook } = config;
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
