import type { ClientRequest, SocketClient, SocketExchange } from './client.ts';
import { CannotSend, cannotSend } from './client.ts';
import { handshakeOptions } from './handshake-options.ts';
import type { AnySocket } from './socket-exchange.ts';
import { socketExchange } from './socket-exchange.ts';

/** The `WebSocket` of this Node, used as in a browser: it takes a URL and sub-protocols. */
export function createGlobalSocketClient(): SocketClient {
  return { connect, close: () => Promise.resolve() };
}

function connect(request: ClientRequest): SocketExchange {
  const { url, protocols, headers } = handshakeOptions(request);
  const [header] = Object.keys(headers);
  if (header !== undefined) {
    throw new CannotSend(
      `the global WebSocket sends no header of an application, and no ${header}`,
    );
  }
  if (request.followRedirects) throw new CannotSend('the global WebSocket follows no redirects');
  try {
    const socket: unknown = new WebSocket(url, protocols);
    return socketExchange('global', socket as AnySocket);
  } catch (error) {
    throw cannotSend('global', error);
  }
}
