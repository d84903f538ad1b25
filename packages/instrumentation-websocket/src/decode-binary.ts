import { createRequire } from 'node:module';
import type { BinaryDecoder } from '@sameriver/core';
import { isSound } from './msgpack-bounds.ts';

/** As much of the library's own type as is used; the rest wants the types of a browser. */
type Decode = (bytes: Uint8Array, options: { readonly useBigInt64: boolean }) => unknown;

/** Nobody nests deeper. */
const DEEPEST = 64;

let decode: Decode | undefined;

/**
 * Decodes MessagePack. The library is loaded with the first binary message of a protocol that wants
 * it, and not before.
 */
export const decodeBinary: BinaryDecoder = (format, bytes) => {
  if (format !== 'msgpack') return [];
  try {
    if (!isSound(bytes, DEEPEST)) return [];
    decode ??= createRequire(import.meta.url)('@msgpack/msgpack').decode as Decode;
    return [asJson(decode(bytes, { useBigInt64: true }))];
  } catch {
    return [];
  }
};

/** The value as JSON writes it. */
function asJson(value: unknown): unknown {
  if (typeof value === 'bigint') return asNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Date) return value.toJSON();
  if (Array.isArray(value)) return value.map(asJson);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asJson(item)]));
}

function asNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}
