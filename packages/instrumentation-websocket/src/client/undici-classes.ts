import {
  InstrumentationNodeModuleDefinition,
  InstrumentationNodeModuleFile,
} from '@opentelemetry/instrumentation';
import type { Method } from '@sameriver/telemetry';
import { hide, standBefore, Watched } from '@sameriver/telemetry';
import type { FollowedSocket } from '../followed-socket.ts';
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
const classes = new Watched<object, WebSocketWatcher>((prototype, watchers) => {
  const undo = [
    standBefore(prototype, 'dispatchEvent', (original) => watchEvents(original, watchers)),
    standBefore(prototype, 'send', watchSends),
  ];
  return () => {
    for (const restore of undo) restore();
  };
});

interface WebSocketExports {
  readonly WebSocket?: WebSocketClass;
}

/** Tells of every copy of npm's undici that the process loads from now on. */
export function undiciModuleDefinition(): InstrumentationNodeModuleDefinition {
  const add = (exports: WebSocketExports): WebSocketExports => {
    if (exports.WebSocket !== undefined) addWebSocketClass(exports.WebSocket);
    return exports;
  };
  // Also for an ES module that imports it: its main file loads this one by `require`.
  const file = new InstrumentationNodeModuleFile(
    'undici/lib/web/websocket/websocket.js',
    VERSIONS,
    add,
    nothingToUndo,
  );
  return new InstrumentationNodeModuleDefinition('undici', VERSIONS, add, undefined, [file]);
}

// Who stops watching puts the prototypes back.
function nothingToUndo(): void {}

/** @param exports What the file of undici's WebSocket exports. */
export function addUndiciFile(_file: string, exports: unknown): void {
  const { WebSocket } = exports as WebSocketExports;
  if (typeof WebSocket === 'function') addWebSocketClass(WebSocket);
}

/** @param found Its instances send events to themselves by `dispatchEvent`. */
export function addWebSocketClass({ prototype }: WebSocketClass): void {
  classes.add(prototype);
}

/**
 * Has the WebSockets of every class watched, those that are found later too.
 *
 * @returns Ends the watching.
 */
export function watchWebSockets(watcher: WebSocketWatcher): () => void {
  return classes.watch(watcher);
}

/** What is followed of this WebSocket, when its `open` has been seen. */
export function followedAs(socket: WebSocketLike): FollowedSocket | undefined {
  return (socket as Instance)[SLOT];
}

/** For a WebSocket that opened before its class was known. */
export function follow(socket: WebSocketLike, followed: FollowedSocket): void {
  hide(socket, SLOT, followed);
}

type Watchers = ReadonlySet<WebSocketWatcher>;

function watchEvents(original: () => Method, watchers: Watchers): Method {
  return function dispatchEvent(this: Instance, ...args: unknown[]) {
    // Each copy of undici has event classes of its own.
    const event = args[0] as SocketEvent | undefined;
    if (event?.type === 'message') {
      this[SLOT]?.received(event.data, typeof event.data === 'string');
    } else if (event?.type !== undefined) change(this, event, watchers);
    return original().apply(this, args);
  };
}

function change(socket: Instance, event: SocketEvent, watchers: Watchers): void {
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
