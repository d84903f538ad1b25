import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { standBefore, Watched } from '@sameriver/telemetry';

/** Must not throw. */
type Hear = (request: IncomingMessage, socket: Duplex) => void;

const servers = new Watched<object, Hear>((prototype, watchers) =>
  standBefore(prototype, 'emit', (original) => {
    return function emit(this: unknown, ...args: unknown[]) {
      if (args[0] === 'upgrade') {
        for (const hear of watchers) hear(args[1] as IncomingMessage, args[2] as Duplex);
      }
      return original().apply(this, args);
    };
  }),
);

/**
 * Hears of every upgrade request of the servers of this process, before the listeners do: no
 * channel tells of them, and most refusals never reach a WebSocket library.
 *
 * @returns Takes it away again.
 */
export function watchUpgrades(hear: Hear): () => void {
  // Not imported: that reads every export of `node:http`, and one of them loads undici, 12 ms.
  servers.add(process.getBuiltinModule('node:http').Server.prototype);
  servers.add(process.getBuiltinModule('node:https').Server.prototype);
  return servers.watch(hear);
}
