import type { StopTap, TapHost } from '@sameriver/telemetry';
import { Attempts } from './attempts.ts';
import { NodeHttpTap } from './node-http.ts';
import { UndiciTap } from './undici.ts';

/**
 * Follows every event stream that this process reads, over undici (global fetch and EventSource
 * included) and over node:http, without wrapping what belongs to the application.
 *
 * @param host Timeline and recorder that hear of the streams.
 * @returns Takes everything away again; streams still open are ended as `aborted`.
 */
export function startClientTap(host: TapHost): StopTap {
  const attempts = new Attempts(host);
  const taps = [new UndiciTap(attempts), new NodeHttpTap(attempts)];
  return () => {
    for (const tap of taps) tap.stop();
    attempts.stop();
  };
}
