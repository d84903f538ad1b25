import type { WireRequest } from '../wire-message.ts';

/** Clients that read streams over HTTP. */
export type StreamClientName = 'fetch' | 'eventsource' | 'http' | 'undici';
/** Clients that open WebSockets. */
export type SocketClientName = 'ws' | 'global' | 'undici';
export type ClientName = StreamClientName | SocketClientName;

/** The request of one attempt, as a client is asked to make it. */
export interface ClientRequest extends WireRequest {
  /** `http://host:port`, for a WebSocket too. */
  readonly origin: string;
  /** False: an answer that redirects is the end of the attempt. */
  readonly followRedirects: boolean;
}

/** What an application has at hand of one attempt, whatever it is carried by. */
interface Attempted {
  /** Resolves when the application knows that it is over, whether it ended or broke. */
  readonly done: Promise<void>;
  /** The application walks away. */
  abort(): void;
}

/** One attempt over HTTP, from its request to the end of the body it reads. */
export interface Exchange extends Attempted {
  /** The application holds the answer; rejects with `CannotSend` when the library gave none. */
  readonly answered: Promise<void>;
  /** Resolves when the application has read that many body bytes. */
  received(bytes: number): Promise<void>;
}

/** One WebSocket, from its handshake to its close. */
export interface SocketExchange extends Attempted {
  /** The application may send; rejects with `CannotSend` when no WebSocket came of the handshake. */
  readonly opened: Promise<void>;
  /** Resolves when the application has got that many messages. */
  received(messages: number): Promise<void>;
  send(text: string): void;
}

/** A real client library, asked to do what a transcript says that some client did. */
export interface Client {
  /** @throws CannotSend when this library cannot make such a request. */
  connect(request: ClientRequest): Exchange;
  /** Drops connections that are kept for later. */
  close(): Promise<void>;
}

/** The same for a library that opens WebSockets. */
export interface SocketClient {
  /** @throws CannotSend when this library cannot make such a handshake. */
  connect(request: ClientRequest): SocketExchange;
  /** Drops connections that are kept for later. */
  close(): Promise<void>;
}

/** The transcript asks for what this library cannot do: the file is skipped, not failed. */
export class CannotSend extends Error {
  override readonly name = 'CannotSend';
}

/** Turns what a library throws at a request into `CannotSend`, with its own words as the reason. */
export function cannotSend(client: ClientName, thrown: unknown): CannotSend {
  if (thrown instanceof CannotSend) return thrown;
  return new CannotSend(`${client} cannot play this: ${messageOf(thrown)}`, { cause: thrown });
}

function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // fetch says "fetch failed" and keeps what happened in the cause.
  const cause = thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
  return thrown.message + cause;
}
