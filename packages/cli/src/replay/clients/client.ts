import type { WireRequest } from '../wire-script.ts';

export type ClientName = 'fetch' | 'eventsource' | 'http' | 'undici';

/** The request of one attempt, as a client is asked to make it. */
export interface ClientRequest extends WireRequest {
  readonly origin: string;
  /** False: an answer that redirects is the end of the attempt. */
  readonly followRedirects: boolean;
}

/** One attempt of a client, from its request to the end of the body it reads. */
export interface Exchange {
  /** The application holds the answer; rejects with `CannotSend` when the library gave none. */
  readonly answered: Promise<void>;
  /** Resolves when the application has read that many body bytes. */
  received(bytes: number): Promise<void>;
  /** Resolves when the application knows that it is over, whether it ended or broke. */
  readonly done: Promise<void>;
  /** The application walks away. */
  abort(): void;
}

/** A real client library, asked to do what a transcript says that some client did. */
export interface Client {
  /** @throws CannotSend when this library cannot make such a request. */
  connect(request: ClientRequest): Exchange;
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
