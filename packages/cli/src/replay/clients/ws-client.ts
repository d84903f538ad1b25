import { createRequire } from 'node:module';
import type * as Ws from 'ws';
import type { ClientRequest, SocketClient, SocketExchange } from './client.ts';
import { cannotSend } from './client.ts';
import { handshakeOptions } from './handshake-options.ts';
import type { AnySocket } from './socket-exchange.ts';
import { socketExchange } from './socket-exchange.ts';

/** `WebSocket` of the npm package `ws`. */
export function createWsClient(): SocketClient {
  return { connect, close: () => Promise.resolve() };
}

function connect(request: ClientRequest): SocketExchange {
  // By `require`, and for each connection: so it is seen by who has begun to watch it meanwhile.
  const { WebSocket } = createRequire(import.meta.url)('ws') as typeof Ws;
  const { url, protocols, headers } = handshakeOptions(request);
  const { followRedirects } = request;
  try {
    const socket: unknown = new WebSocket(url, protocols, { headers, followRedirects });
    return socketExchange('ws', socket as AnySocket);
  } catch (error) {
    throw cannotSend('ws', error);
  }
}
