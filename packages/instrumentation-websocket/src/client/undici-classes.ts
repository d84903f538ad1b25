import { InstrumentationNodeModuleDefinition } from '@opentelemetry/instrumentation';
import type { FollowedSocket } from '../followed-socket.ts';
import type { Method } from '../patch.ts';
import { hide, patchMethod } from '../patch.ts';
import { noteSend } from '../sent-messages.ts';

const VERSIONS = ['>=6 <9'];

/** The members of the standard WebSocket that are read. */
export interface WebSocketLike {
  readonly url: string;
  readonly readyState: number;
}

/** The members of the events of a WebSocket that are read. */
interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
}

interface WebSocketClass {
  readonly prototype: object;
}

/** Hears of the WebSockets of every class that is watched. Must not throw. */
export interface WebSocketWatcher {
  /** Its listeners do not know yet. */
  opened(socket: WebSocketLike): FollowedSocket | undefined;
  /** The handshake came to nothing. */
  failed(socket: WebSocketLike): void;
}

const OPEN = 1;
const SLOT: unique symbol = Symbol('sameriver.websocket');

type Instance = WebSocketLike & { [SLOT]?: FollowedSocket | undefined };

// A module hook fires once for a copy; the class of the runtime is found by its first handshake.
const classes: WebSocketClass[] = [];
const watchers = new Set<WebSocketWatcher>();
const undo = new Map<WebSocketClass, () => void>();

/** Tells of every copy of npm's undici that the process loads from now on. */
export function undiciModuleDefinition(): InstrumentationNodeModuleDefinition {
  interface Undici {
    readonly WebSocket?: WebSocketClass;
  }
  return new InstrumentationNodeModuleDefinition('undici', VERSIONS, (exports: Undici) => {
    if (exports.WebSocket !== undefined) addWebSocketClass(exports.WebSocket);
    return exports;
  });
}

/** @param found A class whose instances send events to themselves by `dispatchEvent`. */
export function addWebSocketClass(found: WebSocketClass): void {
  if (classes.some(({ prototype }) => prototype === found.prototype)) return;
  classes.push(found);
  if (watchers.size > 0) undo.set(found, patch(found.prototype));
}

/**
 * Has the WebSockets of every known class watched; their prototypes are patched as long as anybody
 * watches.
 *
 * @returns Ends the watching.
 */
export function watchWebSockets(watcher: WebSocketWatcher): () => void {
  watchers.add(watcher);
  for (const known of classes) {
    if (!undo.has(known)) undo.set(known, patch(known.prototype));
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    for (const restore of undo.values()) restore();
    undo.clear();
  };
}

/** What is followed of this WebSocket, when its `open` has been seen. */
export function followedAs(socket: WebSocketLike): FollowedSocket | undefined {
  return (socket as Instance)[SLOT];
}

/** For a WebSocket that opened before its class was known. */
export function follow(socket: WebSocketLike, followed: FollowedSocket): void {
  hide(socket, SLOT, followed);
}

function patch(prototype: object): () => void {
  const undoDispatch = patchMethod(prototype, 'dispatchEvent', watchEvents);
  const undoSend = patchMethod(prototype, 'send', watchSends);
  return () => {
    undoDispatch();
    undoSend();
  };
}

function watchEvents(original: () => Method): Method {
  return function dispatchEvent(this: Instance, ...args: unknown[]) {
    // Each copy of undici has event classes of its own.
    const event = args[0] as SocketEvent | undefined;
    if (event?.type === 'message') {
      this[SLOT]?.received(event.data, typeof event.data === 'string');
    } else if (event?.type !== undefined) change(this, event);
    return original().apply(this, args);
  };
}

function change(socket: Instance, event: SocketEvent): void {
  if (event.type === 'open') {
    for (const watcher of watchers) {
      const followed = watcher.opened(socket);
      if (followed === undefined) continue;
      hide(socket, SLOT, followed);
      return;
    }
  } else if (event.type === 'close') {
    socket[SLOT]?.closed(event.code ?? 1006);
    socket[SLOT] = undefined;
  } else if (event.type === 'error' && socket[SLOT] === undefined) {
    for (const watcher of watchers) watcher.failed(socket);
  }
}

function watchSends(original: () => Method): Method {
  return function send(this: Instance, ...args: unknown[]) {
    const followed = this[SLOT];
    if (followed === undefined) return original().apply(this, args);
    // What is sent to a WebSocket that is closing is dropped, and no error tells.
    const isOpen = this.readyState === OPEN;
    const result = original().apply(this, args);
    try {
      if (isOpen) noteSend(followed, args[0], undefined);
    } catch {
      followed.fail();
    }
    return result;
  };
}
