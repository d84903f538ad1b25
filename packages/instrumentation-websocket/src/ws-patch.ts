import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Method, Original } from '@sameriver/telemetry';
import { hide, Interposed, standBefore } from '@sameriver/telemetry';
import type { FollowedSocket } from './followed-socket.ts';
import { noteFrame, noteSend } from './sent-messages.ts';

/** A class of one copy of `ws`. */
export interface WsClass {
  readonly prototype: object;
}

/** The members of a WebSocket of `ws` 7 and 8 that are read. */
export interface WsSocket {
  readonly readyState: number;
  readonly _isServer?: boolean;
  readonly _socket?: Duplex | null;
  readonly _sender?: object | null;
  /** What the handshake agreed on, compression being the only one there is. */
  readonly _extensions?: object;
}

/** Hears of handshakes and of what came of them. Must not throw. */
export interface WsWatcher {
  /** A server is about to answer a handshake. */
  handshake?(request: IncomingMessage, socket: Duplex): void;
  /** A client was answered with 101; what `ws` thinks of that answer is still to come. */
  switched?(response: IncomingMessage): FollowedSocket | undefined;
  /** The WebSocket is open, and its listeners do not know yet. */
  opened(socket: WsSocket, followed: FollowedSocket | undefined): FollowedSocket | undefined;
}

const SLOT: unique symbol = Symbol('sameriver.websocket');

interface Slotted {
  [SLOT]?: FollowedSocket | undefined;
}

type WsInstance = WsSocket & Slotted;

type Watchers = ReadonlySet<WsWatcher>;

const maskedSenders = new Interposed<FollowedSocket>({ send: watchSends });

/** @returns Puts the prototype back. */
export function patchWebSocket(prototype: object, watchers: Watchers): () => void {
  return standBefore(prototype, 'emit', (original) => watchEvents(original, watchers));
}

/** @returns Puts the prototype back. */
export function patchSender(prototype: object): () => void {
  return standBefore(prototype, 'sendFrame', watchFrames);
}

/** @returns Puts the prototype back. */
export function patchServer(prototype: object, watchers: Watchers): () => void {
  return standBefore(prototype, 'handleUpgrade', (original) => {
    return function handleUpgrade(this: unknown, ...args: unknown[]) {
      for (const watcher of watchers) {
        watcher.handshake?.(args[0] as IncomingMessage, args[1] as Duplex);
      }
      return original().apply(this, args);
    };
  });
}

function watchEvents(original: Original, watchers: Watchers): Method {
  return function emit(this: WsInstance, ...args: unknown[]) {
    const event = args[0];
    if (event === 'message') {
      // 7 tells text from binary by the type of the data, 8 by an argument of its own.
      const isText = args.length > 2 ? args[2] !== true : typeof args[1] === 'string';
      this[SLOT]?.received(args[1], isText);
    } else if (event === 'open') begin(this, watchers);
    else if (event === 'close') finish(this, args[1]);
    else if (event === 'upgrade') switched(this, args[1] as IncomingMessage, watchers);
    return original().apply(this, args);
  };
}

function switched(socket: WsInstance, response: IncomingMessage, watchers: Watchers): void {
  for (const watcher of watchers) {
    const followed = watcher.switched?.(response);
    if (followed === undefined) continue;
    hide(socket, SLOT, followed);
    return;
  }
}

function begin(socket: WsInstance, watchers: Watchers): void {
  for (const watcher of watchers) {
    const followed = watcher.opened(socket, socket[SLOT]);
    if (followed === undefined) continue;
    if (socket[SLOT] === undefined) hide(socket, SLOT, followed);
    watchSender(socket, followed);
    return;
  }
}

function finish(socket: WsInstance, code: unknown): void {
  const followed = socket[SLOT];
  if (followed === undefined) return;
  socket[SLOT] = undefined;
  // Without an `open` before it, the answer was not one that `ws` accepts.
  followed.failed('handshake');
  followed.closed(typeof code === 'number' ? code : 1006);
}

/**
 * What a server sends is seen as frames: Socket.IO hands frames that it has encoded once for many
 * receivers straight to the sender. Compressed frames cannot be read, nor those that a client has
 * masked, so there the sender is watched itself.
 */
function watchSender(socket: WsSocket, followed: FollowedSocket): void {
  const { _isServer, _sender, _extensions = {} } = socket;
  if (typeof _sender !== 'object' || _sender === null) return;
  if (_isServer === true && Object.keys(_extensions).length === 0) hide(_sender, SLOT, followed);
  else maskedSenders.put(_sender, followed);
}

// `ws` comes here with what is open to be sent, and tells by options what kind of message it is.
function watchSends(
  original: Original,
  followedBy: (sender: object) => FollowedSocket | undefined,
) {
  return function send(this: object, ...args: unknown[]) {
    const result = original().apply(this, args);
    const followed = followedBy(this);
    try {
      if (followed !== undefined) noteSend(followed, args[0], args[1]);
    } catch {
      followed?.fail();
    }
    return result;
  };
}

function watchFrames(original: Original): Method {
  return function sendFrame(this: Slotted, ...args: unknown[]) {
    const followed = this[SLOT];
    if (followed !== undefined) {
      try {
        noteFrame(followed, args[0]);
      } catch {
        followed.fail();
      }
    }
    return original().apply(this, args);
  };
}
