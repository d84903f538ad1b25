import type { StopTap, TapHost } from '@sameriver/telemetry';
import { Sockets } from '../sockets.ts';
import { watchWs } from '../ws-copies.ts';
import { Handshakes } from './handshakes.ts';
import { watchUpgrades } from './http-upgrades.ts';

/**
 * Follows every WebSocket that this process accepts through `ws`, and hears of the handshakes that
 * any library refuses.
 *
 * @param host Timeline and recorder that hear of the WebSockets.
 * @returns Takes everything away again; WebSockets still open are ended as `aborted`.
 */
export function startServerTap(host: TapHost): StopTap {
  const sockets = new Sockets(host, 'server');
  const handshakes = new Handshakes(sockets);
  const undo = [
    watchUpgrades((request, socket) => handshakes.begin(request, socket)),
    watchWs({
      handshake: (request, socket) => handshakes.begin(request, socket),
      opened: (socket) => handshakes.opened(socket),
    }),
  ];
  return () => {
    for (const restore of undo) restore();
    handshakes.stop();
    sockets.stop();
  };
}
