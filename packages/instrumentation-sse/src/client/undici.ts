import type { Context } from '@opentelemetry/api';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { headerLookup, httpAttributes, subscribeAll } from '@sameriver/telemetry';
import type { Attempts } from './attempts.ts';
import { followChunks } from './body-chunks.ts';
import type { FollowedStream } from './followed-stream.ts';
import type { Interest } from './interest.ts';
import { carriesEventStream, isRedirect, mayAnnounceMove, mayContinue } from './interest.ts';
import type { PublicationScope } from './publish-scope.ts';
import { scopePublications } from './publish-scope.ts';
import type { Redirects } from './redirects.ts';
import { createRedirects } from './redirects.ts';
import type { SentBody } from './sent-body.ts';
import { keepSentBody } from './sent-body.ts';
import { streamOn } from './stand-in.ts';
import type { UndiciRequest, UndiciResponse } from './undici-request.ts';
import { interestOf, streamRequestOf } from './undici-request.ts';

/** A request whose answer decides whether it is followed. */
interface Undecided {
  readonly context: Context;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly body: SentBody | undefined;
}

interface Followed {
  readonly stream: FollowedStream;
  readonly context: Context;
  readonly body: SentBody | undefined;
}

/** `done`: we failed at it. */
type Known = Followed | Undecided | 'done';

/**
 * Follows what goes through undici: the global fetch and EventSource, npm's undici and every
 * client built on one of them. All copies of undici in a process publish on the same channels.
 */
export class UndiciTap {
  readonly #attempts: Attempts;
  // Until they are answered. All but `create` run in the context of whoever opened the socket.
  readonly #requests = new WeakMap<object, Known>();
  readonly #redirects: Redirects;
  readonly #scope: PublicationScope;
  readonly #stop: () => void;

  constructor(attempts: Attempts) {
    this.#attempts = attempts;
    this.#redirects = createRedirects(attempts.host);
    const unsubscribe = subscribeAll({
      // Where something replaced `publish`, requests are still seen; their HTTP spans stay apart.
      'undici:request:create': (message) => this.#scope.entered || this.#enter(message),
      'undici:request:headers': (message) => this.#onHeaders(message),
      'undici:request:trailers': (message) => this.#over(message, (stream) => stream.ended('eof')),
      'undici:request:error': (message) => this.#onError(message),
    });
    this.#scope = scopePublications('undici:request:create', (message) => this.#enter(message));
    this.#stop = () => {
      this.#scope.stop();
      unsubscribe();
      this.#redirects.stop();
    };
  }

  stop(): void {
    this.#stop();
  }

  #enter(message: unknown): Context | undefined {
    const { request } = message as { request: UndiciRequest };
    try {
      return this.#begin(request);
    } catch {
      this.#requests.set(request, 'done');
      this.#attempts.countFault();
      return undefined;
    }
  }

  /** Returns the context in which the HTTP span of this attempt belongs. */
  #begin(request: UndiciRequest): Context | undefined {
    const interest = interestOf(request);
    if (interest === 'pass') return undefined;
    const active = context.active();
    const isRead = interest !== 'watch' || mayAnnounceMove(request.method, request.path);
    const body = isRead ? keepSentBody(request) : undefined;
    const stream =
      this.#continued(request, active) ?? this.#opened(request, interest, active, body);
    if (stream !== undefined) {
      this.#requests.set(request, { stream, context: active, body });
      return this.#attempts.contextOf(stream);
    }
    // Without a context there is nothing worth the memory.
    if (active !== ROOT_CONTEXT || body !== undefined) {
      this.#requests.set(request, { context: active, startTime: Date.now(), body });
    }
    return undefined;
  }

  #continued(request: UndiciRequest, active: Context): FollowedStream | undefined {
    if (!this.#redirects.waiting) return undefined;
    const next = streamRequestOf(request);
    const stream = this.#redirects.take({ request: next, context: active });
    stream?.redirected(next);
    return stream;
  }

  #opened(
    request: UndiciRequest,
    interest: Interest,
    active: Context,
    body: SentBody | undefined,
  ): FollowedStream | undefined {
    if (interest === 'expect') return undefined;
    const watched = interest === 'watch';
    if (watched && !mayContinue(request.method, request.path)) return undefined;
    const asked = streamRequestOf(request, body?.read);
    if (watched && !this.#attempts.wants(asked)) return undefined;
    const attributes = httpAttributes(asked.method, asked.origin);
    return this.#attempts.open(request, asked, { context: active, attributes });
  }

  #onHeaders(message: unknown): void {
    const { request, response } = message as { request: UndiciRequest; response: UndiciResponse };
    // An interim response (100, 103); the one that counts is still to come.
    if (response.statusCode < 200) return;
    const known = this.#requests.get(request);
    if (known === 'done') return;
    if (known !== undefined && 'stream' in known) {
      this.#attempts.safely(() => this.#answer(request, response, known));
    } else if (response.statusCode === 200 && carriesEventStream(response.headers)) {
      this.#attempts.safely(() => this.#openLate(request, response, known));
    }
    known?.body?.release();
  }

  #answer(request: UndiciRequest, response: UndiciResponse, known: Followed): void {
    const { stream } = known;
    const header = headerLookup(response.headers);
    const answered = (): boolean =>
      this.#attempts.answered(request, stream, response.statusCode, header);
    if (isRedirect(response.statusCode)) {
      const hop = { request: streamRequestOf(request), context: known.context };
      if (this.#redirects.hold(stream, hop, header('location'), answered)) {
        // What else is published of this request is the end of a hop, not of the attempt.
        this.#requests.delete(request);
        return;
      }
    }
    // From here on the request carries its stream itself.
    this.#requests.delete(request);
    if (answered()) followChunks(request, stream);
  }

  #openLate(request: UndiciRequest, response: UndiciResponse, known: Undecided | undefined): void {
    if (interestOf(request) === 'pass') return;
    const asked = streamRequestOf(request, known?.body?.read);
    const stream = this.#attempts.open(request, asked, {
      // Requests older than this tap are not known, and headers arrive in somebody else's context.
      context: known?.context ?? ROOT_CONTEXT,
      ...(known === undefined ? {} : { startTime: known.startTime }),
      requestHasSpan: true,
      attributes: httpAttributes(asked.method, asked.origin),
    });
    if (stream === undefined) return;
    const { context: caller = ROOT_CONTEXT, body } = known ?? {};
    this.#answer(request, response, { stream, context: caller, body });
  }

  #onError(message: unknown): void {
    const { error } = message as { error: unknown };
    this.#over(message, (stream) => stream.failed(error));
  }

  #over(message: unknown, end: (stream: FollowedStream) => void): void {
    const { request } = message as { request: object };
    const carried = streamOn(request);
    if (carried !== undefined) {
      end(carried);
      return;
    }
    const known = this.#requests.get(request);
    if (known === undefined || known === 'done') return;
    this.#requests.delete(request);
    known.body?.release();
    if ('stream' in known) end(known.stream);
  }
}
