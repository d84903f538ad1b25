import type { EventSource, EventSourceFetchInit, FetchLikeResponse } from 'eventsource';
import type { CountUp } from '../count-up.ts';
import { countUp } from '../count-up.ts';
import type { Client, ClientRequest, Exchange } from './client.ts';
import { CannotSend, cannotSend } from './client.ts';
import { countReads } from './count-reads.ts';
import { holdNextTimer } from './hold-next-timer.ts';

type EventSourceClass = typeof EventSource;

interface Attempt {
  readonly request: ClientRequest;
  readonly url: string;
  readonly cursor: string | undefined;
  readonly received: CountUp;
  readonly answered: PromiseWithResolvers<void>;
  readonly done: PromiseWithResolvers<void>;
}

/** One EventSource of the library and what it is doing. */
interface Held {
  source: EventSource | undefined;
  attempt: Attempt;
  /** Set while the library waits to reconnect: ends its wait. */
  reconnect: (() => void) | undefined;
  /** The cursor that the library was about to send, where the attempt asks for another. */
  otherCursor: { readonly sent: string | undefined } | undefined;
}

/**
 * `EventSource` of the npm package, which keeps its own cursor and reconnects by itself. A request
 * without a cursor, or for another path, comes from a fresh EventSource; what neither of the two
 * would send is `CannotSend`.
 */
export async function createEventSourceClient(): Promise<Client> {
  const { EventSource: library } = await import('eventsource');
  const all: Held[] = [];
  return {
    connect: (request) => {
      requireGet(request);
      const attempt = newAttempt(request);
      const again = reconnect(all.at(-1), attempt);
      if (again !== undefined) return again;
      requireNoCursor(attempt);
      const held = open(library, attempt);
      all.push(held);
      return exchangeOf(held);
    },
    close: () => {
      for (const { source } of all) source?.close();
      return Promise.resolve();
    },
  };
}

function requireGet({ method, body }: ClientRequest): void {
  if (method !== 'GET') throw new CannotSend(`an EventSource sends GET, never ${method}`);
  if (body !== undefined) throw new CannotSend('an EventSource sends no body');
}

function requireNoCursor({ cursor }: Attempt): void {
  if (cursor === undefined) return;
  throw new CannotSend(`a fresh EventSource cannot send the cursor ${JSON.stringify(cursor)}`);
}

function newAttempt(request: ClientRequest): Attempt {
  const attempt = {
    request,
    url: request.origin + request.target,
    cursor: request.headers['last-event-id'] || undefined,
    received: countUp(),
    answered: Promise.withResolvers<void>(),
    done: Promise.withResolvers<void>(),
  };
  // Whoever waits for the answer hears of the failure; nobody has to wait.
  attempt.answered.promise.catch(() => {});
  return attempt;
}

function reconnect(held: Held | undefined, attempt: Attempt): Exchange | undefined {
  const start = held?.reconnect;
  if (held === undefined || start === undefined || held.attempt.url !== attempt.url)
    return undefined;
  held.reconnect = undefined;
  held.attempt = attempt;
  start();
  if (held.otherCursor === undefined) return exchangeOf(held);
  const sent = JSON.stringify(held.otherCursor.sent ?? 'none');
  held.source?.close();
  if (attempt.cursor === undefined) return undefined;
  const wanted = JSON.stringify(attempt.cursor);
  throw new CannotSend(`this EventSource has the cursor ${sent}, the transcript sends ${wanted}`);
}

function open(library: EventSourceClass, attempt: Attempt): Held {
  const held: Held = { source: undefined, attempt, reconnect: undefined, otherCursor: undefined };
  const source = new library(attempt.url, { fetch: (url, init) => send(held, url, init) });
  held.source = source;
  source.addEventListener('error', () => {
    // An event of the stream may call itself `error` and is delivered under that name.
    if (source.readyState === source.OPEN) return;
    if (source.readyState === source.CONNECTING) {
      holdNextTimer((callback) => {
        held.reconnect = callback;
      });
    }
    held.attempt.done.resolve();
  });
  return held;
}

async function send(
  held: Held,
  url: string | URL,
  init: EventSourceFetchInit,
): Promise<FetchLikeResponse> {
  const { request, cursor, answered, received } = held.attempt;
  const sent = init.headers['Last-Event-ID'];
  if (sent !== cursor) {
    held.otherCursor = { sent };
    // The one error after which the library neither tells anybody nor sets a timer.
    throw new DOMException('the transcript has another cursor', 'AbortError');
  }
  try {
    const redirect = request.followRedirects ? 'follow' : 'manual';
    const { credentials: _, ...rest } = init;
    const headers = { ...init.headers, ...others(request) };
    const response = await fetch(url, { ...rest, headers, redirect });
    answered.resolve();
    return countReads(response, received);
  } catch (error) {
    answered.reject(cannotSend('eventsource', error));
    throw error;
  }
}

/** Headers that an application adds through the `fetch` option; the cursor is the library's own. */
function others({ headers }: ClientRequest): Record<string, string> {
  const { 'last-event-id': _, accept, ...rest } = headers;
  return accept === undefined ? rest : { ...rest, Accept: accept };
}

function exchangeOf({ source, attempt }: Held): Exchange {
  const { answered, received, done } = attempt;
  return {
    answered: answered.promise,
    received: received.reach,
    done: done.promise,
    abort: () => {
      source?.close();
      done.resolve();
    },
  };
}
