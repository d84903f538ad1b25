import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
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
  // Not imported: that reads every export of `node:http`, and one of them loads undici, 12 ms. And
  // required, as an application would: what OpenTelemetry's hook first hands out by another way, it
  // keeps from the hooks behind it, which are those of dd-trace for one.
  const require = createRequire(import.meta.url);
  servers.add((require('node:http') as typeof import('node:http')).Server.prototype);
  servers.add((require('node:https') as typeof import('node:https')).Server.prototype);
  return servers.watch(hear);
}
