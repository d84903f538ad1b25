import type { StreamRequest } from '@sameriver/core';
import { headerLookup, isNamed, splitTarget, textIn } from '@sameriver/telemetry';
import type { Interest } from './interest.ts';
import { interestIn, isHandshake } from './interest.ts';

/** The members of undici's request (5 to 8) that the tap reads. */
export interface UndiciRequest {
  readonly method: string;
  /** Path and query; the whole URL when an HTTP proxy is asked. */
  readonly path: string;
  /** A string, or a URL where the caller of a dispatcher gave one. */
  readonly origin: unknown;
  readonly headers: unknown;
  readonly upgrade?: unknown;
  readonly contentType?: unknown;
  readonly body?: unknown;
  onBodySent?: unknown;
  /** undici 5 to 7 */
  onData?: unknown;
  /** undici 8 */
  onResponseData?: unknown;
}

export interface UndiciResponse {
  readonly statusCode: number;
  readonly headers: unknown;
}

/** Called for every request of the process: reads the two headers that matter, and no more. */
export function interestOf(request: UndiciRequest): Interest {
  const { headers } = request;
  if (isHandshake(request.upgrade)) return 'pass';
  if (!Array.isArray(headers)) {
    const header = headerLookup(headers);
    return interestIn(request.method, header('accept'), header('last-event-id') !== undefined);
  }
  let accept: string | undefined;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (isNamed(headers[i], 'accept')) accept = textIn(headers[i + 1]);
    else if (isNamed(headers[i], 'last-event-id')) return interestIn(request.method, accept, true);
  }
  return interestIn(request.method, accept, false);
}

/** @param body Gives the JSON that was sent, where it is at hand. */
export function streamRequestOf(request: UndiciRequest, body?: () => unknown): StreamRequest {
  const { origin, target } = splitTarget(String(request.origin), request.path);
  const header = headerLookup(request.headers);
  const { method } = request;
  if (body === undefined) return { transport: 'sse', method, origin, target, header };
  return { transport: 'sse', method, origin, target, header, body };
}
