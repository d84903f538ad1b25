import type { JudgedReconnect, Role, Transcript } from '@sameriver/core';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { WebSocketInstrumentation } from '@sameriver/instrumentation-websocket';
import type { ReplayControl, ReplayOptions, TapOptions } from '@sameriver/telemetry';
import { replayControl } from '@sameriver/telemetry';
import type { Watched } from './stage.ts';
import { createVerdictLog } from './verdict-log.ts';

/** The instrumentation at work on one transcript. */
export interface Watch extends Watched {
  verdicts(): JudgedReconnect[];
  /** Switches it off. */
  stop(): void;
}

/**
 * Switches both instrumentations on, for one side and with the options of the transcript. All that is
 * not as in an application: a verdict comes to us too, and the player tells when time is up.
 */
export function startWatch(side: Role, { options }: Transcript): Watch {
  let playing = 0;
  const timers = new Set<() => void>();
  const log = createVerdictLog(() => playing);
  const control: ReplayControl = {
    opened: log.opened,
    observer: log.observer,
    later: (callback) => {
      timers.add(callback);
      return () => timers.delete(callback);
    },
  };
  const config = configOf(side, options, control);
  const instrumentations = [new SseInstrumentation(config), new WebSocketInstrumentation(config)];
  return {
    enter: (connection) => {
      playing = connection;
    },
    follow: (connection) => {
      playing = connection;
      log.moved(connection);
    },
    elapse: () => {
      for (const callback of [...timers]) callback();
      timers.clear();
    },
    verdicts: log.verdicts,
    stop: () => {
      for (const instrumentation of instrumentations) instrumentation.disable();
    },
  };
}

function configOf(
  side: Role,
  { profiles, identity, reconnectWindow }: Transcript['options'],
  control: ReplayControl,
): TapOptions & ReplayOptions {
  return {
    client: side === 'client',
    server: side === 'server',
    ...(profiles && { profiles }),
    ...(identity && { identity }),
    ...(reconnectWindow !== undefined && { reconnectWindow: reconnectWindow * 1000 }),
    [replayControl]: control,
  };
}
