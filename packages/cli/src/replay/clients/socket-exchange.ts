import { countUp } from '../count-up.ts';
import type { SocketClientName, SocketExchange } from './client.ts';
import { CannotSend } from './client.ts';

/** The members that the WebSockets of `ws`, of undici and of the runtime have in common. */
export interface AnySocket {
  binaryType: string;
  readonly readyState: number;
  addEventListener(type: string, listener: (event: SocketEvent) => void): void;
  send(text: string): void;
  close(): void;
}

interface SocketEvent {
  /** Of an `error`, where the library says more than that there was one. */
  readonly message?: string;
  readonly error?: { readonly message?: string };
}

const CONNECTING = 0;

/** @param client Named in the reason when no WebSocket comes of the handshake. */
export function socketExchange(client: SocketClientName, socket: AnySocket): SocketExchange {
  const opened = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const messages = countUp();
  let isOpen = false;
  const over = (because: string): void => {
    opened.reject(new CannotSend(`${client} opens no WebSocket on this answer${because}`));
    done.resolve();
  };
  // Whoever waits for the WebSocket hears of the failure; nobody has to wait.
  opened.promise.catch(() => {});
  // A Blob, which standard WebSockets make of bytes, tells nobody at once what is in it.
  if (socket.binaryType === 'blob') socket.binaryType = 'arraybuffer';
  socket.addEventListener('open', () => {
    isOpen = true;
    opened.resolve();
  });
  socket.addEventListener('message', () => messages.add(1));
  socket.addEventListener('error', ({ message, error }) => {
    const said = message || error?.message;
    // Of a handshake that fails, undici 6 tells no close.
    if (!isOpen) over(said ? `: ${said}` : '');
  });
  socket.addEventListener('close', () => over(''));
  return {
    opened: opened.promise,
    received: messages.reach,
    done: done.promise,
    send: (text) => socket.send(text),
    abort: () => {
      // Not all libraries tell of the end of what never began.
      if (socket.readyState === CONNECTING) done.resolve();
      socket.close();
    },
  };
}
