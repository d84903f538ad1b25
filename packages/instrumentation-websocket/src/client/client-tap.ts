import type { StopTap, TapHost } from '@sameriver/telemetry';
import { Sockets } from '../sockets.ts';
import { NodeHttpTap } from './node-http.ts';
import { UndiciTap } from './undici.ts';

/**
 * Follows every WebSocket that this process opens through `ws`, through undici and through the
 * global WebSocket, without wrapping what belongs to the application.
 *
 * @param host Timeline and recorder that hear of the WebSockets.
 * @returns Takes everything away again; WebSockets still open are ended as `aborted`.
 */
export function startClientTap(host: TapHost): StopTap {
  const sockets = new Sockets(host, 'client');
  const taps = [new UndiciTap(sockets), new NodeHttpTap(sockets)];
  return () => {
    for (const tap of taps) tap.stop();
    sockets.stop();
  };
}
