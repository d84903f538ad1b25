import type { IncomingMessage } from 'node:http';
import { Interposed, requestBodies } from '@sameriver/telemetry';

interface Kept {
  chunks: Buffer[];
  size: number;
}

const MOST_BYTES = 64 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]*\+)?json\b/i;
const UPGRADE = /\/upgrade(?:\?|$)/;

const announcing = new Interposed<Kept>({
  push: (original, keptOf) =>
    function push(this: object, ...args: unknown[]) {
      keep(keptOf(this), args[0]);
      return original().apply(this, args);
    },
});

/**
 * Keeps the JSON body of a request that announces a move to a WebSocket (M1), which may carry the
 * cursor. It is noted as it comes from the socket; whether anybody reads it stays as it is.
 */
export function keepAnnouncement(request: IncomingMessage): void {
  const { method, url = '', headers } = request;
  if (method !== 'POST' || !UPGRADE.test(url)) return;
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) return;
  const kept: Kept = { chunks: [], size: 0 };
  announcing.put(request, kept);
  requestBodies.set(request, () => {
    // Asked for when the answer is written: what comes after that announces nothing.
    announcing.remove(request);
    return parsed(kept);
  });
}

function parsed({ chunks }: Kept): unknown {
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

function keep(kept: Kept | undefined, chunk: unknown): void {
  if (kept === undefined || !(chunk instanceof Uint8Array)) return;
  kept.size += chunk.byteLength;
  if (kept.size > MOST_BYTES) kept.chunks = [];
  else kept.chunks.push(Buffer.from(chunk));
}
