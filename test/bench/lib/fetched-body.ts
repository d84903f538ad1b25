import { channel } from 'node:diagnostics_channel';
import { smallEvent } from './event-streams.ts';

const CREATE = channel('undici:request:create');
const HEADERS = channel('undici:request:headers');
const TRAILERS = channel('undici:request:trailers');

/** The members of undici's request that an observer meets. */
class FetchRequest {
  readonly method = 'GET';
  readonly origin = 'http://bench';
  readonly headers: readonly string[];
  readonly path: string;
  readonly #enqueue: (chunk: Uint8Array) => void;

  constructor(path: string, headers: readonly string[], enqueue: (chunk: Uint8Array) => void) {
    this.path = path;
    this.headers = ['accept', 'text/event-stream', ...headers];
    this.#enqueue = enqueue;
  }

  onData(chunk: Uint8Array): boolean {
    this.#enqueue(chunk);
    return true;
  }
}

let fetched = 0;

/**
 * A body as `fetch` makes one, each chunk an event, and published as undici does, but no network.
 *
 * @param headers More of the request: names and values in turn.
 */
export function fetchedBody(
  size: number,
  events: number,
  headers: readonly string[] = [],
): ReadableStream<Uint8Array> {
  let sent = 0;
  let controller: ReadableByteStreamController;
  const request = new FetchRequest(`/in-process/${fetched++}`, headers, (chunk) =>
    controller.enqueue(chunk as Uint8Array<ArrayBuffer>),
  );
  if (CREATE.hasSubscribers) CREATE.publish({ request });
  const response = { statusCode: 200, headers: ['content-type', 'text/event-stream'] };
  if (HEADERS.hasSubscribers) HEADERS.publish({ request, response });
  return new ReadableStream({
    type: 'bytes',
    start(own) {
      controller = own;
    },
    pull(own) {
      if (sent === events) {
        if (TRAILERS.hasSubscribers) TRAILERS.publish({ request, trailers: [] });
        own.close();
        own.byobRequest?.respond(0);
        return;
      }
      request.onData(new TextEncoder().encode(smallEvent(100_000 + sent++, size)));
    },
  });
}
