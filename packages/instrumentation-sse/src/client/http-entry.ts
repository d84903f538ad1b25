import type { ClientRequest } from 'node:http';
import type { Context } from '@opentelemetry/api';
import { context, trace } from '@opentelemetry/api';
import type { StreamRequest } from '@sameriver/core';
import type { HttpCaller, HttpProtocol, RequestFunction } from '@sameriver/telemetry';
import { addHttpCaller, httpAttributes } from '@sameriver/telemetry';
import type { Attempts } from './attempts.ts';
import type { FollowedStream } from './followed-stream.ts';
import { requestArguments } from './http-arguments.ts';
import { interestIn } from './interest.ts';
import type { Redirects } from './redirects.ts';

interface EnteredAttempt {
  readonly stream: FollowedStream;
  /** The caller's context, for a response that the HTTP instrumentation will not bind to it. */
  readonly listeners: Context | undefined;
}

interface Entered {
  readonly stream: FollowedStream;
  readonly caller: Context;
  /** `undefined` when nobody records spans. */
  readonly attempt: Context | undefined;
  taken: boolean;
}

/**
 * Opens attempts before the HTTP instrumentation makes its span, so that the span becomes a child
 * of the attempt's own.
 */
export class HttpEntry implements HttpCaller {
  readonly #attempts: Attempts;
  readonly #redirects: Redirects;
  readonly #remove: () => void;
  #entered: Entered | undefined;

  constructor(attempts: Attempts, redirects: Redirects) {
    this.#attempts = attempts;
    this.#redirects = redirects;
    this.#remove = addHttpCaller('sse', this);
  }

  stop(): void {
    this.#remove();
  }

  call(
    protocol: HttpProtocol,
    original: RequestFunction,
    self: unknown,
    args: unknown[],
  ): ClientRequest {
    // `get` may call `request`, and each of them may be wrapped more than once.
    if (this.#entered !== undefined) return original.apply(self, args);
    const entered = this.#attempts.safely(() => this.#enter(protocol, args));
    if (entered === undefined) return original.apply(self, args);
    this.#entered = entered;
    try {
      if (entered.attempt === undefined) return original.apply(self, args);
      const bound = bindCallback(args, entered.caller);
      return context.with(entered.attempt, () => original.apply(self, bound));
    } catch (error) {
      // Arguments that node:http refuses never become a request.
      entered.stream.failed(error);
      throw error;
    } finally {
      this.#entered = undefined;
    }
  }

  /** The attempt that this new request belongs to, when it was opened on the way in. */
  take(request: ClientRequest): EnteredAttempt | undefined {
    const entered = this.#entered;
    if (entered === undefined || entered.taken) return undefined;
    entered.taken = true;
    const { stream, caller, attempt } = entered;
    if (attempt === undefined) return { stream, listeners: undefined };
    // The HTTP instrumentation binds the listeners of the request to the context it found, which is
    // ours. Binding them to the caller's first makes its own binding a no-op.
    context.bind(caller, request);
    const span = trace.getActiveSpan();
    if (span === undefined || span === trace.getSpan(attempt)) return { stream, listeners: caller };
    this.#attempts.safely(() => this.#attempts.host.recorder.carriedBy(stream.connection, span));
    return { stream, listeners: undefined };
  }

  #enter(protocol: HttpProtocol, args: readonly unknown[]): Entered | undefined {
    const asked = requestArguments(protocol, args);
    if (asked === undefined) return undefined;
    const resumes = asked.header('last-event-id') !== undefined;
    if (interestIn(asked.method, asked.header('accept'), resumes) !== 'follow') return undefined;
    const caller = context.active();
    const stream = this.#continued(asked) ?? this.#opened(asked, caller);
    if (stream === undefined) return undefined;
    return { stream, caller, attempt: this.#attempts.contextOf(stream), taken: false };
  }

  #continued(asked: StreamRequest): FollowedStream | undefined {
    if (!this.#redirects.waiting) return undefined;
    const stream = this.#redirects.take({ request: asked, context: undefined });
    stream?.redirected(asked);
    return stream;
  }

  #opened(asked: StreamRequest, caller: Context): FollowedStream | undefined {
    const attributes = httpAttributes(asked.method, asked.origin);
    // The request object does not exist yet; it is claimed as soon as it does.
    return this.#attempts.open(asked, asked, { context: caller, attributes });
  }
}

function bindCallback(args: readonly unknown[], caller: Context): unknown[] {
  const last = args.at(-1);
  if (typeof last !== 'function') return [...args];
  return [...args.slice(0, -1), context.bind(caller, last)];
}
