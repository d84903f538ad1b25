import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RecordingConnection } from '@sameriver/testkit';
import { RecordingHost } from '@sameriver/testkit';
import type * as Ws from 'ws';
import { startClientTap } from '../src/client/client-tap.ts';
import { addWebSocketClass } from '../src/client/undici-classes.ts';
import { startServerTap } from '../src/server/server-tap.ts';
import { addWsCopy } from '../src/ws-copies.ts';

const require = createRequire(import.meta.url);

/** One version of `ws`; both have the classes under these names. */
export interface WsLibrary {
  readonly name: string;
  readonly WebSocket: typeof Ws.WebSocket;
  readonly WebSocketServer: typeof Ws.WebSocketServer;
}

function wsLibrary(name: string): WsLibrary {
  const exports = require(name);
  addWsCopy(exports);
  const WebSocketServer = exports.WebSocketServer ?? exports.Server;
  return { name, WebSocket: exports.WebSocket ?? exports, WebSocketServer };
}

export const WS7: WsLibrary = wsLibrary('ws7');
export const WS8: WsLibrary = wsLibrary('ws');
export const WS: readonly WsLibrary[] = [WS7, WS8];

/** A class that follows the standard, as browsers have it. */
export interface StandardLibrary {
  readonly name: string;
  readonly WebSocket: typeof WebSocket;
}

function undici(name: string): StandardLibrary {
  const exports = require(name) as { WebSocket: typeof WebSocket };
  addWebSocketClass(exports.WebSocket);
  return { name, WebSocket: exports.WebSocket };
}

export const STANDARD: readonly StandardLibrary[] = [
  { name: 'the global WebSocket', WebSocket: globalThis.WebSocket },
  undici('undici6'),
  undici('undici7'),
  undici('undici8'),
];

/** Every way for a client of this process to open a WebSocket; all have the standard members. */
export const CLIENTS: readonly StandardLibrary[] = [
  ...STANDARD,
  ...WS.map(({ name, WebSocket }) => ({ name, WebSocket: WebSocket as never })),
];

export interface Taps {
  readonly client: RecordingHost;
  readonly server: RecordingHost;
  stop(): void;
}

export function startTaps(): Taps {
  const client = new RecordingHost('client');
  const server = new RecordingHost('server');
  const stops = [startClientTap(client), startServerTap(server)];
  return {
    client,
    server,
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

export interface WsPeer {
  readonly http: Server;
  readonly wss: Ws.WebSocketServer;
  /** `ws://127.0.0.1:port` */
  readonly url: string;
  close(): Promise<void>;
}

/** @param accept Gets each WebSocket that was opened and the path that was asked for. */
export async function wsPeer(
  accept: (socket: Ws.WebSocket, path: string) => void,
  { library = WS8, ...options }: { library?: WsLibrary } & Ws.ServerOptions = {},
): Promise<WsPeer> {
  const http = createServer((_request, response) => response.end('plain'));
  const wss = new library.WebSocketServer({ ...options, server: http });
  wss.on('connection', (socket, request) => {
    socket.on('error', () => {});
    accept(socket, request.url ?? '');
  });
  const url = await listen(http);
  return {
    http,
    wss,
    url,
    close: async () => {
      for (const socket of wss.clients) socket.terminate();
      wss.close();
      await closed(http);
    },
  };
}

/** @param handle Answers each upgrade request on its socket. */
export async function rawPeer(
  handle: (socket: Duplex, path: string, key: string) => void,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const http = createServer();
  const sockets = new Set<Duplex>();
  http.on('upgrade', (request, socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    handle(socket, request.url ?? '', request.headers['sec-websocket-key'] ?? '');
  });
  const url = await listen(http);
  return {
    url,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return closed(http);
    },
  };
}

async function listen(http: Server): Promise<string> {
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function closed(http: Server): Promise<void> {
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
}

/** A WebSocket whose errors are expected. */
export function connect(
  { WebSocket: Class }: { readonly WebSocket: unknown },
  ...args: unknown[]
): WebSocket {
  const socket = Reflect.construct(Class as typeof WebSocket, args) as WebSocket;
  socket.addEventListener('error', () => {});
  return socket;
}

export function untilClosed(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    socket.addEventListener('close', () => resolve());
  });
}

/** What was told of one connection, as `way:text`; bytes are written in hex. */
export function exchanges({ exchanges }: RecordingConnection): string[] {
  return exchanges.map(({ way, data }) => {
    if (data === undefined) return `${way}:?`;
    return `${way}:${typeof data === 'string' ? data : Buffer.from(data).toString('hex')}`;
  });
}

/** The connection whose request had this target. */
export function connectionTo({ timeline }: RecordingHost, target: string): RecordingConnection {
  const found = timeline.connections.find(({ request }) => request.target === target);
  if (found === undefined) throw new Error(`No connection to ${target} was opened.`);
  return found;
}
