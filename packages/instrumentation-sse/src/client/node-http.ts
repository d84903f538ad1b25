import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Context } from '@opentelemetry/api';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import {
  activeHttpSpan,
  httpAttributes,
  standBeforeHttp,
  subscribeAll,
} from '@sameriver/telemetry';
import type { Attempts } from './attempts.ts';
import type { FollowedStream } from './followed-stream.ts';
import { HttpEntry } from './http-entry.ts';
import type { Interest } from './interest.ts';
import { carriesEventStream, interestIn, isRedirect, mayContinue } from './interest.ts';
import { followBody, unwatchRequest, watchRequest } from './node-http-carriers.ts';
import { requestHeaders, responseHeaders, streamRequestOf } from './node-http-request.ts';

import type { Redirects } from './redirects.ts';
import { createRedirects } from './redirects.ts';
import { streamOn } from './stand-in.ts';

/** A request whose answer decides whether it is followed. */
interface Undecided {
  readonly context: Context;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
}

interface Followed {
  readonly stream: FollowedStream;
  /** To be in force for listeners, where our own context was in force as the request was made. */
  readonly listeners: Context | undefined;
}

/** `done`: nothing is left to decide, or we failed at it. */
type Known = Followed | Undecided | 'done';

interface RequestMessage {
  readonly request: ClientRequest;
}

/** Follows what goes through node:http and node:https. */
export class NodeHttpTap {
  readonly #attempts: Attempts;
  readonly #requests = new WeakMap<object, Known>();
  readonly #redirects: Redirects;
  readonly #entry: HttpEntry;
  readonly #unsubscribe: () => void;

  constructor(attempts: Attempts) {
    this.#attempts = attempts;
    this.#redirects = createRedirects(attempts.host);
    this.#entry = new HttpEntry(attempts, this.#redirects);
    this.#unsubscribe = subscribeAll({
      // In the caller's context. Headers that are set later are looked at when the answer is in.
      'http.client.request.created': (message) => this.#onRequest(message as RequestMessage),
      'http.client.request.error': (message) => this.#onError(message),
      // In spite of its name: the head of the response is in, and nothing of its body.
      'http.client.response.finish': (message) => this.#onResponse(message),
    });
  }

  stop(): void {
    this.#unsubscribe();
    this.#entry.stop();
    this.#redirects.stop();
  }

  #onRequest({ request }: RequestMessage): void {
    try {
      this.#begin(request);
    } catch {
      this.#requests.set(request, 'done');
      this.#attempts.countFault();
    }
  }

  #begin(request: ClientRequest): void {
    const entered = this.#entry.take(request);
    if (entered !== undefined) {
      if (this.#attempts.holds(request)) this.#follow(request, entered.stream, entered.listeners);
      else entered.stream.stop();
      return;
    }
    const interest = interestOf(request);
    if (interest === 'pass') return;
    const stream = this.#continued(request) ?? this.#opened(request, interest);
    if (stream !== undefined) {
      this.#follow(request, stream, undefined);
      return;
    }
    const active = context.active();
    // Without a context there is nothing worth the memory.
    if (active !== ROOT_CONTEXT) {
      this.#requests.set(request, { context: active, startTime: Date.now() });
    }
  }

  #follow(request: ClientRequest, stream: FollowedStream, listeners: Context | undefined): void {
    watchRequest(request, stream);
    this.#requests.set(request, { stream, listeners });
  }

  #continued(request: ClientRequest): FollowedStream | undefined {
    if (!this.#redirects.waiting) return undefined;
    const next = streamRequestOf(request);
    const stream = this.#redirects.take({ request: next, context: undefined });
    stream?.redirected(next);
    return stream;
  }

  #opened(request: ClientRequest, interest: Interest): FollowedStream | undefined {
    if (interest === 'expect') return undefined;
    const watched = interest === 'watch';
    if (watched && !mayContinue(request.method, request.path)) return undefined;
    const asked = streamRequestOf(request);
    if (watched && !this.#attempts.wants(asked)) return undefined;
    const httpSpan = activeHttpSpan();
    // Its span is made already, above ours. From the next request on it shall be below.
    if (httpSpan !== undefined) standBeforeHttp(request.protocol);
    return this.#attempts.open(request, asked, {
      context: context.active(),
      attributes: httpAttributes(asked.method, asked.origin),
      ...(httpSpan === undefined ? {} : { httpSpan }),
    });
  }

  #onError(message: unknown): void {
    const { request, error } = message as { request: ClientRequest; error: unknown };
    streamOn(request)?.failed(error);
  }

  #onResponse(message: unknown): void {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    const known = this.#requests.get(request);
    if (known === 'done') return;
    if (known !== undefined && 'stream' in known) {
      this.#attempts.safely(() => this.#answer(request, response, known));
    } else if (isForUs(request, response)) {
      this.#attempts.safely(() => this.#openLate(request, response, known));
    }
  }

  #answer(request: ClientRequest, response: IncomingMessage, known: Followed): void {
    const { stream, listeners } = known;
    const header = responseHeaders(response);
    const status = response.statusCode ?? 0;
    const answered = (): boolean => this.#attempts.answered(request, stream, status, header);
    // From here on the response carries the stream.
    this.#requests.set(request, 'done');
    if (isRedirect(status)) {
      const hop = { request: streamRequestOf(request), context: undefined };
      if (this.#redirects.hold(stream, hop, header('location'), answered)) {
        unwatchRequest(request);
        return;
      }
    }
    if (listeners !== undefined) context.bind(listeners, response);
    if (answered()) followBody(response, stream);
  }

  #openLate(request: ClientRequest, response: IncomingMessage, known: Undecided | undefined): void {
    if (interestOf(request) === 'pass') return;
    const asked = streamRequestOf(request);
    const stream = this.#attempts.open(request, asked, {
      context: known?.context ?? ROOT_CONTEXT,
      ...(known === undefined ? {} : { startTime: known.startTime }),
      requestHasSpan: true,
      attributes: httpAttributes(asked.method, asked.origin),
    });
    if (stream === undefined) return;
    watchRequest(request, stream);
    this.#answer(request, response, { stream, listeners: undefined });
  }
}

function interestOf(request: ClientRequest): Interest {
  const header = requestHeaders(request);
  return interestIn(request.method, header('accept'), header('last-event-id') !== undefined);
}

/** An answer to a request that was not followed: a stream, or a refusal of one that it asked for. */
function isForUs(request: ClientRequest, response: IncomingMessage): boolean {
  return response.statusCode === 200
    ? carriesEventStream(response.rawHeaders)
    : interestOf(request) === 'follow';
}
