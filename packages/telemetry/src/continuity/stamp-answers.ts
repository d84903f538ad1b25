import { diag } from '@opentelemetry/api';
import { onServerRequests } from '../server-requests.ts';
import type { ContinuityEvidence } from './evidence.ts';
import { stampStream } from './stamp-http2.ts';
import type { ContinuityOptions } from './stamp-response.ts';
import { continuity } from './stamp-response.ts';

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
  return onServerRequests(
    {
      http1: (request, response) => {
        if (isMeant(request.url)) continuity(response, evidence, options);
      },
      http2: (stream, headers) => {
        if (isMeant(headers[':path'])) stampStream(stream, headers, evidence, options);
      },
    },
    (error) => diag.error('continuity: the answer is left as it is', error),
  );
}
