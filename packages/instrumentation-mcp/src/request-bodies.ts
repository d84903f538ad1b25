import type { IncomingMessage } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { onServerRequests, requestBodies } from '@sameriver/telemetry';

/** A longer message is read by its SDK and not by us. */
const MOST_BYTES = 65_536;

type Source = IncomingMessage | ServerHttp2Stream;

/**
 * Keeps the messages that MCP clients POST to this process, for as long as their requests live. They
 * are seen in `push` of the request or stream, on their way to whoever reads it, and nothing else is
 * touched.
 *
 * @returns Stops it.
 */
export function keepRequestBodies(onFailure: () => void): () => void {
  return onServerRequests(
    {
      http1: (request) => {
        if (request.method === 'POST' && isMcp(acceptIn(request.rawHeaders))) keep(request);
      },
      http2: (stream, headers) => {
        if (headers[':method'] === 'POST' && isMcp(headers.accept)) keep(stream);
      },
    },
    onFailure,
  );
}

/** Both types are accepted by every MCP client, whatever the revision. */
function isMcp(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return accept.includes('text/event-stream') && accept.includes('application/json');
}

/** Node makes an object of the headers when somebody asks for it, which may be nobody. */
function acceptIn(rawHeaders: readonly string[]): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length !== 6 || rawHeaders[i]?.toLowerCase() !== 'accept') continue;
    return rawHeaders[i + 1];
  }
  return undefined;
}

function keep(source: Source): void {
  let chunks: Uint8Array[] = [];
  let left = MOST_BYTES;
  const push = source.push;
  const value = function (this: Source, chunk: unknown, ...rest: unknown[]): unknown {
    if (chunk instanceof Uint8Array && left >= 0) {
      left -= chunk.length;
      if (left >= 0) chunks.push(chunk);
      else chunks = [];
    }
    if (chunk === null) Reflect.deleteProperty(source, 'push');
    return Reflect.apply(push, this, [chunk, ...rest]);
  };
  Object.defineProperty(source, 'push', { value, writable: true, configurable: true });
  requestBodies.set(source, () => {
    requestBodies.delete(source);
    return left < 0 ? undefined : parsed(Buffer.concat(chunks).toString());
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
