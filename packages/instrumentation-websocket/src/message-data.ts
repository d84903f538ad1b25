import type { MessageData } from '@sameriver/core';
import { MAX_TEXT } from '@sameriver/core';

/**
 * The content of a message. Libraries hand over text as a string or as the bytes it came as, and
 * binary as a buffer, a view, or a list of fragments.
 *
 * @returns `undefined` for a Blob: its bytes can only be had later.
 */
export function contentOf(data: unknown, isText: boolean): MessageData {
  if (typeof data === 'string') return isText ? data : Buffer.from(data);
  const bytes = bytesOf(data);
  // Text that nobody will look into need not be made of them.
  return isText && bytes !== undefined && bytes.length <= MAX_TEXT ? bytes.toString() : bytes;
}

/** The same for a message that is only compared: text may stay in bytes. */
export function comparableOf(data: unknown): MessageData {
  return typeof data === 'string' || data instanceof Uint8Array ? data : bytesOf(data);
}

function bytesOf(data: unknown): Buffer | undefined {
  if (Buffer.isBuffer(data)) return data;
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) return Buffer.from(data);
  if (!Array.isArray(data)) return undefined;
  const parts = data.filter((part) => part instanceof Uint8Array);
  return parts.length === data.length ? Buffer.concat(parts) : undefined;
}
