import type {
  Client,
  ClientName,
  SocketClient,
  SocketClientName,
  StreamClientName,
} from './client.ts';
import { createEventSourceClient } from './eventsource-client.ts';
import { createFetchClient } from './fetch-client.ts';
import { createGlobalSocketClient } from './global-socket-client.ts';
import { createHttpClient } from './http-client.ts';
import { createUndiciClient } from './undici-client.ts';
import { createUndiciSocketClient } from './undici-socket-client.ts';
import { createWsClient } from './ws-client.ts';

const CLIENTS: Readonly<Record<StreamClientName, () => Client | Promise<Client>>> = {
  fetch: createFetchClient,
  eventsource: createEventSourceClient,
  http: createHttpClient,
  undici: createUndiciClient,
};

const SOCKET_CLIENTS: Readonly<Record<SocketClientName, () => SocketClient>> = {
  ws: createWsClient,
  undici: createUndiciSocketClient,
  global: createGlobalSocketClient,
};

/** Every client, in the order in which help names them. */
export const CLIENT_NAMES: readonly ClientName[] = [
  ...new Set([
    ...(Object.keys(CLIENTS) as ClientName[]),
    ...(Object.keys(SOCKET_CLIENTS) as ClientName[]),
  ]),
];

/** @returns The client of each transport: the one that was asked for where it can, else the default. */
export function clientsFor(via: ClientName): {
  readonly stream: StreamClientName;
  readonly socket: SocketClientName;
} {
  return {
    stream: via in CLIENTS ? (via as StreamClientName) : 'fetch',
    socket: via in SOCKET_CLIENTS ? (via as SocketClientName) : 'ws',
  };
}

/** A fresh client: no cursor and no connection is left over from another transcript. */
export async function createClient(name: StreamClientName): Promise<Client> {
  return CLIENTS[name]();
}

/** The same for WebSockets. */
export function createSocketClient(name: SocketClientName): SocketClient {
  return SOCKET_CLIENTS[name]();
}
