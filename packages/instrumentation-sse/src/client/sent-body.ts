import { shadow } from './shadow.ts';
import type { UndiciRequest } from './undici-request.ts';

/** The body of a request on its way out. */
export interface SentBody {
  /** The JSON value of all that was sent; `undefined` when it is none or was too long to keep. */
  read(): unknown;
  /** Keeps nothing any more. */
  release(): void;
}

const MOST_BYTES = 64 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]*\+)?json\b/i;

/**
 * Remembers a small JSON body until the response is judged. fetch hands undici a generator, which
 * only the socket may read, so the chunks are taken as they are sent.
 */
export function keepSentBody(request: UndiciRequest): SentBody | undefined {
  const { contentType, body } = request;
  if (body === null || body === undefined || typeof request.onBodySent !== 'function') return;
  if (typeof contentType !== 'string' || !JSON_TYPE.test(contentType)) return;
  let chunks: Uint8Array[] | undefined = [];
  let size = 0;
  const undo = shadow(request, 'onBodySent', (original) => {
    return function onBodySent(chunk: unknown) {
      keep(chunk);
      return original.call(this, chunk);
    };
  });
  return { read, release };

  function keep(chunk: unknown): void {
    if (chunks === undefined) return;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    size += bytes instanceof Uint8Array ? bytes.byteLength : MOST_BYTES + 1;
    if (size > MOST_BYTES) chunks = undefined;
    else chunks.push(Buffer.from(bytes as Uint8Array));
  }

  function read(): unknown {
    if (chunks === undefined || size === 0) return undefined;
    try {
      return JSON.parse(Buffer.concat(chunks).toString());
    } catch {
      return undefined;
    }
  }

  function release(): void {
    chunks = undefined;
    undo();
  }
}
