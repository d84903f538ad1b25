import {
  InstrumentationNodeModuleDefinition,
  InstrumentationNodeModuleFile,
} from '@opentelemetry/instrumentation';
import { Watched } from '@sameriver/telemetry';
import type { WsClass, WsWatcher } from './ws-patch.ts';
import { patchSender, patchServer, patchWebSocket } from './ws-patch.ts';

const VERSIONS = ['>=7 <9'];

/** What a copy of `ws` exports: to `require` its WebSocket class, which carries the others. */
interface WsExports {
  readonly WebSocket?: WsClass;
  readonly WebSocketServer?: WsClass;
  readonly Server?: WsClass;
  readonly Sender?: WsClass;
  /** In the namespace that an ES module imports. */
  readonly default?: WsExports;
}

// A module hook fires once for a copy, and a process may hold several: packages bring their own.
const sockets = new Watched<object, WsWatcher>(patchWebSocket);
const senders = new Watched<object, WsWatcher>(patchSender);
const servers = new Watched<object, WsWatcher>(patchServer);

// An ES module that imports `ws` gets classes out of these files, which load one another by `require`.
const FILES = ['websocket.js', 'websocket-server.js', 'sender.js'] as const;

/** Tells of every copy of `ws` that the process loads from now on. */
export function wsModuleDefinition(): InstrumentationNodeModuleDefinition {
  const add = (exports: WsExports): WsExports => {
    addWsCopy(exports);
    return exports;
  };
  const files = FILES.map(
    (file) =>
      new InstrumentationNodeModuleFile(
        `ws/lib/${file}`,
        VERSIONS,
        (exports: unknown) => {
          addWsFile(file, exports);
          return exports;
        },
        nothingToUndo,
      ),
  );
  return new InstrumentationNodeModuleDefinition('ws', VERSIONS, add, undefined, files);
}

// Who stops watching puts the prototypes back.
function nothingToUndo(): void {}

/**
 * @param file Name of a file below `lib` of a copy of `ws`.
 * @param exports What it exports: one class.
 */
export function addWsFile(file: string, exports: unknown): void {
  const prototype = typeof exports === 'function' ? exports.prototype : undefined;
  if (prototype === undefined) return;
  if (file === 'websocket.js') sockets.add(prototype);
  else if (file === 'sender.js') senders.add(prototype);
  else if (file === 'websocket-server.js') servers.add(prototype);
}

/** @param exports What `require('ws')` or `import('ws')` gave. */
export function addWsCopy(exports: WsExports): void {
  const main = exports.default ?? exports;
  const socket = main.WebSocket ?? exports.WebSocket ?? (main as Partial<WsClass>);
  const server = main.WebSocketServer ?? main.Server ?? exports.WebSocketServer;
  const sender = main.Sender ?? exports.Sender;
  if (socket.prototype !== undefined) sockets.add(socket.prototype);
  if (sender !== undefined) senders.add(sender.prototype);
  if (server !== undefined) servers.add(server.prototype);
}

/**
 * Has the WebSockets of every copy of `ws` watched, those that are loaded later too.
 *
 * @returns Ends the watching.
 */
export function watchWs(watcher: WsWatcher): () => void {
  const ends = [sockets, senders, servers].map((watched) => watched.watch(watcher));
  return () => {
    for (const end of ends) end();
  };
}
