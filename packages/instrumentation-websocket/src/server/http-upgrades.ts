import type { IncomingMessage } from 'node:http';
import { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Method } from '../patch.ts';
import { patchMethod } from '../patch.ts';

/**
 * Hears of every upgrade request of the servers of this process, before the listeners do: no
 * channel tells of them, and most refusals never reach a WebSocket library.
 *
 * @param hear Must not throw.
 * @returns Takes it away again.
 */
export function watchUpgrades(
  hear: (request: IncomingMessage, socket: Duplex) => void,
): () => void {
  const watch = (original: () => Method): Method =>
    function emit(this: unknown, ...args: unknown[]) {
      if (args[0] === 'upgrade') hear(args[1] as IncomingMessage, args[2] as Duplex);
      return original().apply(this, args);
    };
  const undo = [HttpServer, HttpsServer].map(({ prototype }) =>
    patchMethod(prototype, 'emit', watch),
  );
  return () => {
    for (const restore of undo) restore();
  };
}
