import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';

/** What to do with a request that arrives at a server of this process, before its handler. */
export interface ServerRequests {
  http1(request: IncomingMessage, response: ServerResponse): void;
  /** Not called before Node 22.17, which has no such channel. */
  http2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void;
}

/**
 * @param failed Called with what one of them throws, which no server gets to see.
 * @returns Stops it.
 */
export function onServerRequests(
  { http1, http2 }: ServerRequests,
  failed: (error: unknown) => void,
): () => void {
  const guarded = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      failed(error);
    }
  };
  const onRequest = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    guarded(() => http1(request, response));
  };
  const onStream = (message: unknown): void => {
    const { stream, headers } = message as {
      stream: ServerHttp2Stream;
      headers: IncomingHttpHeaders;
    };
    guarded(() => http2(stream, headers));
  };
  subscribe('http.server.request.start', onRequest);
  subscribe('http2.server.stream.created', onStream);
  return () => {
    unsubscribe('http.server.request.start', onRequest);
    unsubscribe('http2.server.stream.created', onStream);
  };
}
