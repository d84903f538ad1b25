import { createRequire } from 'node:module';
import type * as Undici from 'undici';
import type { ClientRequest, SocketClient } from './client.ts';
import { CannotSend, cannotSend } from './client.ts';
import { handshakeOptions } from './handshake-options.ts';
import type { AnySocket } from './socket-exchange.ts';
import { socketExchange } from './socket-exchange.ts';

/** `WebSocket` of the npm package undici. */
export function createUndiciSocketClient(): SocketClient {
  // By `require`: so it is seen by who has begun to watch it meanwhile.
  const { Agent, WebSocket } = createRequire(import.meta.url)('undici') as typeof Undici;
  const dispatcher = new Agent();
  return {
    connect: (request: ClientRequest) => {
      if (request.followRedirects)
        throw new CannotSend('undici follows no redirect to a WebSocket');
      const { url, protocols, headers } = handshakeOptions(request);
      try {
        const socket: unknown = new WebSocket(url, { protocols, headers, dispatcher });
        return socketExchange('undici', socket as AnySocket);
      } catch (error) {
        throw cannotSend('undici', error);
      }
    },
    close: () => dispatcher.destroy(),
  };
}
