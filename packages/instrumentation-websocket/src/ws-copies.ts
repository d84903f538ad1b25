import { InstrumentationNodeModuleDefinition } from '@opentelemetry/instrumentation';
import type { WsClasses, WsWatcher } from './ws-patch.ts';
import { patchWs } from './ws-patch.ts';

const VERSIONS = ['>=7 <9'];

/** What a copy of `ws` exports: to `require` its WebSocket class, which carries the others. */
interface WsExports {
  readonly WebSocket?: WsClasses['WebSocket'];
  readonly WebSocketServer?: WsClasses['WebSocketServer'];
  readonly Server?: WsClasses['WebSocketServer'];
  readonly Sender?: WsClasses['Sender'];
  /** In the namespace that an ES module imports. */
  readonly default?: WsExports;
}

// A module hook fires once for a copy, and a process may hold several: packages bring their own.
const copies: WsClasses[] = [];
const watchers = new Set<WsWatcher>();
const undo = new Map<WsClasses, () => void>();

/** Tells of every copy of `ws` that the process loads from now on. */
export function wsModuleDefinition(): InstrumentationNodeModuleDefinition {
  return new InstrumentationNodeModuleDefinition('ws', VERSIONS, (exports: WsExports) => {
    addWsCopy(exports);
    return exports;
  });
}

/** @param exports What `require('ws')` or `import('ws')` gave. */
export function addWsCopy(exports: WsExports): void {
  const classes = classesOf(exports);
  if (classes === undefined) return;
  const isKnown = copies.some(({ WebSocket }) => WebSocket === classes.WebSocket);
  if (isKnown) return;
  copies.push(classes);
  if (watchers.size > 0) undo.set(classes, patchWs(classes, watchers));
}

/**
 * Has the WebSockets of every copy of `ws` watched. Their prototypes are patched as long as anybody
 * watches, and by nobody twice.
 *
 * @returns Ends the watching; the prototypes are as they were when it was the last.
 */
export function watchWs(watcher: WsWatcher): () => void {
  watchers.add(watcher);
  for (const classes of copies) {
    if (!undo.has(classes)) undo.set(classes, patchWs(classes, watchers));
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    for (const restore of undo.values()) restore();
    undo.clear();
  };
}

function classesOf(exports: WsExports): WsClasses | undefined {
  const main = exports.default ?? exports;
  const WebSocket = main.WebSocket ?? (main as WsClasses['WebSocket']);
  const WebSocketServer = main.WebSocketServer ?? main.Server ?? exports.WebSocketServer;
  const Sender = main.Sender ?? exports.Sender;
  if (typeof WebSocket !== 'function') return undefined;
  return { WebSocket, WebSocketServer, Sender };
}
