import type { Role, StreamConnection, StreamReport, Verdict } from '@sameriver/core';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import type { WebSocketInstrumentationConfig } from '@sameriver/instrumentation-websocket';
import { WebSocketInstrumentation } from '@sameriver/instrumentation-websocket';
import { replayControl } from '@sameriver/telemetry';

/** Names the connection in the request, so that both ends and the application speak of the same. */
export const CONNECTION_HEADER = 'x-connection';

export interface Watch {
  disable(): void;
}

/**
 * Switches the instrumentations on as an application does, and tells every verdict with the name of
 * its connection.
 */
export function watchVerdicts(
  heard: (connection: string, role: Role, verdict: Verdict) => void,
  config: WebSocketInstrumentationConfig = {},
): Watch {
  const names = new WeakMap<StreamConnection, string>();
  // A tap asks whether to ignore a request in the moment before it opens its connection.
  let asked: string | undefined;
  const options = {
    ...config,
    ignoreRequest: ({ header }: { header(name: string): string | undefined }) => {
      asked = header(CONNECTION_HEADER);
      return false;
    },
    reportHook: ({ verdict }: StreamReport, connection: StreamConnection) => {
      const name = names.get(connection);
      if (verdict !== undefined && name !== undefined) heard(name, connection.role, verdict);
    },
    [replayControl]: {
      opened: (connection: StreamConnection) => {
        if (asked !== undefined) names.set(connection, asked);
        asked = undefined;
      },
      observer: { settled() {}, revised() {}, inStream() {}, ended() {} },
      later: (callback: () => void) => {
        const timer = setTimeout(callback, 15_000);
        timer.unref();
        return () => clearTimeout(timer);
      },
    },
  };
  const instrumentations = [new SseInstrumentation(options), new WebSocketInstrumentation(options)];
  return {
    disable: () => {
      for (const each of instrumentations) each.disable();
    },
  };
}
