import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ContinuityEvidence } from './evidence.ts';
import type { ContinuityOptions } from './stamp-response.ts';
import { continuity } from './stamp-response.ts';

const REQUEST_START = 'http.server.request.start';

export interface StampOptions extends Pick<ContinuityOptions, 'comment' | 'event'> {
  /** Path of the requests whose answers are meant, without the query: `/mcp`. */
  readonly path: string;
}

/**
 * `continuity` for servers whose handler is not the application's own, such as those of fastmcp and
 * mcp-proxy: every answer of this process on a path is stamped, over HTTP/1.1.
 *
 * @returns Stops it.
 */
export function stampAnswers(
  evidence: ContinuityEvidence,
  { path, ...options }: StampOptions,
): () => void {
  const onStart = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.url?.split('?', 1)[0] === path) continuity(response, evidence, options);
  };
  subscribe(REQUEST_START, onStart);
  return () => unsubscribe(REQUEST_START, onStart);
}
