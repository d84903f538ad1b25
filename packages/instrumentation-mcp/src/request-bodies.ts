import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { requestBodies } from '@sameriver/telemetry';

const REQUEST_START = 'http.server.request.start';
/** A longer message is read by its SDK and not by us. */
const MOST_BYTES = 65_536;

/**
 * Keeps the messages that MCP clients POST to this process, for as long as their requests live. They
 * are seen in `push` of the request, on their way to whoever reads it, and nothing else is touched.
 *
 * @returns Stops it.
 */
export function keepRequestBodies(onFailure: () => void): () => void {
  const onStart = (message: unknown): void => {
    try {
      const { request } = message as { request: IncomingMessage };
      if (request.method === 'POST' && isMcp(request.rawHeaders)) keep(request);
    } catch {
      onFailure();
    }
  };
  subscribe(REQUEST_START, onStart);
  return () => unsubscribe(REQUEST_START, onStart);
}

/** Both types are accepted by every MCP client, whatever the revision. */
function isMcp(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length !== 6 || rawHeaders[i]?.toLowerCase() !== 'accept') continue;
    const accept = rawHeaders[i + 1] ?? '';
    return accept.includes('text/event-stream') && accept.includes('application/json');
  }
  return false;
}

function keep(request: IncomingMessage): void {
  let chunks: Uint8Array[] = [];
  let left = MOST_BYTES;
  const push = request.push;
  const value = function (this: IncomingMessage, chunk: unknown, ...rest: unknown[]): unknown {
    if (chunk instanceof Uint8Array && left >= 0) {
      left -= chunk.length;
      if (left >= 0) chunks.push(chunk);
      else chunks = [];
    }
    if (chunk === null) Reflect.deleteProperty(request, 'push');
    return Reflect.apply(push, this, [chunk, ...rest]);
  };
  Object.defineProperty(request, 'push', { value, writable: true, configurable: true });
  requestBodies.set(request, () => {
    requestBodies.delete(request);
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
