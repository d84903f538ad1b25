import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FollowedStream } from './followed-stream.ts';
import { shadow } from './shadow.ts';
import type { UndiciRequest } from './undici-request.ts';

/** Ways to see the bytes of a response body before its consumer does. */
export interface BodyChunks {
  /** Feeds the body of `request` to `stream`. Returns what ends it. */
  follow(request: UndiciRequest, stream: FollowedStream): () => void;
}

const CHANNEL = 'undici:request:bodyChunkReceived';

// undici 5 to 7, then 8. Not every copy publishes the channel (undici 6 has none), and some do both,
// so exactly one way is chosen for each request. The method comes first: it costs the requests that
// nobody follows nothing, while a channel with a subscriber costs every chunk of the process.
const METHODS = ['onData', 'onResponseData'] as const;

export function bodyChunks(): BodyChunks {
  const published = new Map<unknown, FollowedStream>();

  return {
    follow(request, stream) {
      const method = METHODS.find((name) => typeof request[name] === 'function');
      if (method === undefined) return listen(request, stream);
      return shadow(request, method, (original) => {
        return function onChunk(chunk: Uint8Array) {
          stream.push(chunk);
          return original.call(this, chunk);
        };
      });
    },
  };

  function listen(request: UndiciRequest, stream: FollowedStream): () => void {
    if (published.size === 0) subscribe(CHANNEL, onPublished);
    published.set(request, stream);
    return () => {
      published.delete(request);
      if (published.size === 0) unsubscribe(CHANNEL, onPublished);
    };
  }

  function onPublished(message: unknown): void {
    const { request, chunk } = message as { request: unknown; chunk: Uint8Array };
    published.get(request)?.push(chunk);
  }
}
