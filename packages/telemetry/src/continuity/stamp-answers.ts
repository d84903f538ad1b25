import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { diag } from '@opentelemetry/api';
import type { ContinuityEvidence } from './evidence.ts';
import { stampStream } from './stamp-http2.ts';
import type { ContinuityOptions } from './stamp-response.ts';
import { continuity } from './stamp-response.ts';

const REQUEST_START = 'http.server.request.start';
/** Not published before Node 22.17. */
const STREAM_CREATED = 'http2.server.stream.created';

export interface StampOptions extends Pick<ContinuityOptions, 'comment' | 'event' | 'protocol'> {
  /** Path of the requests whose answers are meant, without the query: `/mcp`. */
  readonly path: string;
}

/**
 * `continuity` for servers whose handler is not the application's own, such as those of fastmcp and
 * mcp-proxy: every answer of this process on a path is stamped, over HTTP/1.1 and, from Node 22.17
 * on, over HTTP/2.
 *
 * @returns Stops it.
 */
export function stampAnswers(
  evidence: ContinuityEvidence,
  { path, ...options }: StampOptions,
): () => void {
  const isMeant = (target: string | undefined): boolean => target?.split('?', 1)[0] === path;
  const onStart = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (isMeant(request.url)) continuity(response, evidence, options);
  };
  const onStream = (message: unknown): void => {
    const { stream, headers } = message as {
      stream: ServerHttp2Stream;
      headers: IncomingHttpHeaders;
    };
    if (!isMeant(headers[':path'])) return;
    try {
      stampStream(stream, headers, evidence, options);
    } catch (error) {
      diag.error('continuity: the answer is left as it is', error);
    }
  };
  subscribe(REQUEST_START, onStart);
  subscribe(STREAM_CREATED, onStream);
  return () => {
    unsubscribe(REQUEST_START, onStart);
    unsubscribe(STREAM_CREATED, onStream);
  };
}
