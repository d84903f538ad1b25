import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { diag } from '@opentelemetry/api';
import { readerForAnswer, stampFor } from './answer-stamp.ts';
import type { ContinuityEvidence } from './evidence.ts';
import { CONTINUITY_HEADER, isEventStream } from './expose.ts';
import type { FrameOptions } from './frame.ts';
import { beginsWithMark } from './frame.ts';
import { Head } from './head.ts';
import { Shadows } from './shadows.ts';

export interface ContinuityOptions extends FrameOptions {
  /** The cursor of the request, where it is not in `Last-Event-ID`. */
  readonly cursor?: string;
  /** Protocol name of these streams in metrics, for their replay window; default `stream-continuity`. */
  readonly protocol?: string;
}

/**
 * Says on an answer of `node:http` or `node:http2` how it continues the stream: in its
 * `Stream-Continuity` header, and in a first frame. To be called by the handler before the head is
 * written, in any of the ways there are. An answer that is no event stream with status 200 stays as
 * it is, and so does one on which the application has set the header by itself.
 *
 * ```js
 * continuity(response, { epoch: log.epoch });                            // L0
 * continuity(response, { epoch: log.epoch, found: log.find(cursor) });   // L1
 * continuity(response, { status: 'resumed', epoch: log.epoch, next });   // L2
 * ```
 *
 * What fails in here is told to the diagnostic logger, and the answer goes out without it.
 */
export function continuity(
  response: ServerResponse | Http2ServerResponse,
  evidence: ContinuityEvidence,
  options: ContinuityOptions = {},
): void {
  try {
    const stamp = new Stamp(response, evidence, options);
    stamp.install();
  } catch (error) {
    diag.error('continuity: the answer is left as it is', error);
  }
}

type AnyResponse = ServerResponse;

class Stamp {
  readonly #response: AnyResponse;
  readonly #read: ReturnType<typeof readerForAnswer>;
  readonly #options: ContinuityOptions;
  readonly #shadows: Shadows;
  #isOver = false;
  #frame = '';

  constructor(
    response: ServerResponse | Http2ServerResponse,
    evidence: ContinuityEvidence,
    options: ContinuityOptions,
  ) {
    // The compatibility API of HTTP/2 has every method that is used here.
    this.#response = response as AnyResponse;
    this.#options = options;
    const sent = options.cursor ?? response.req.headers['last-event-id']?.toString();
    this.#read = readerForAnswer(evidence, sent, options.protocol);
    this.#shadows = new Shadows(response);
  }

  install(): void {
    if (this.#response.headersSent) return;
    const stamp = this;
    this.#shadows.put('writeHead', (original) => {
      return function writeHead(this: unknown, ...args: unknown[]): unknown {
        return original.apply(this, stamp.#headed(args));
      };
    });
    for (const name of ['write', 'end']) {
      this.#shadows.put(name, (original) => {
        return function written(this: unknown, ...args: unknown[]): unknown {
          stamp.#beforeBody(args[0]);
          return original.apply(this, args);
        };
      });
    }
    this.#shadows.put('flushHeaders', (original) => {
      return function flushHeaders(this: unknown, ...args: unknown[]): unknown {
        const result = original.apply(this, args);
        stamp.#beforeBody(undefined);
        return result;
      };
    });
  }

  /** @returns The arguments with which the head is to be written. */
  #headed(args: unknown[]): unknown[] {
    if (this.#isOver || this.#response.headersSent) return args;
    this.#isOver = true;
    try {
      return this.#stamped(args);
    } catch (error) {
      diag.error('continuity: the head is left as it is', error);
      return args;
    } finally {
      if (this.#frame === '') this.#shadows.remove();
    }
  }

  #stamped(args: unknown[]): unknown[] {
    const response = this.#response;
    const head = new Head(response, args);
    const header = (name: string): string | undefined => head.get(name);
    const hasBody = response.req.method !== 'HEAD';
    const stamp = stampFor({ status: args[0], header, hasBody }, this.#read, this.#options);
    if (stamp === undefined) return args;
    const { field, exposed, frame } = stamp;
    response.setHeader(CONTINUITY_HEADER, field);
    this.#frame = frame;
    if (exposed === undefined) return args;
    const replaced = head.with('access-control-expose-headers', exposed);
    if (replaced === undefined) response.setHeader('Access-Control-Expose-Headers', exposed);
    return replaced ?? args;
  }

  #beforeBody(chunk: unknown): void {
    const response = this.#response;
    try {
      // A head that is implied by the first write comes now, or our frame would come after it.
      if (!this.#isOver && !response.headersSent && this.#isStream()) {
        response.writeHead(response.statusCode);
      }
    } finally {
      this.#writeFrame(chunk);
    }
  }

  #isStream(): boolean {
    return isEventStream(this.#response.getHeader('content-type')?.toString());
  }

  #writeFrame(chunk: unknown): void {
    const frame = this.#frame;
    if (frame === '') return;
    this.#frame = '';
    this.#shadows.remove();
    const { destroyed, writableEnded } = this.#response;
    if (!destroyed && !writableEnded && !beginsWithMark(chunk)) this.#response.write(frame);
  }
}
