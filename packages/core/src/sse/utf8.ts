import type { NativeBuffer } from './native-bytes.ts';
import { nativeBuffer } from './native-bytes.ts';

declare const TextEncoder: new () => {
  encodeInto(text: string, target: Uint8Array): { written: number };
};
declare const TextDecoder: new (
  label: string,
  options: { ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

let decoder: InstanceType<typeof TextDecoder> | undefined;

/** The text of bytes[from..to): ill-formed UTF-8 becomes U+FFFD, a leading U+FEFF stays. */
export function decodeUtf8(bytes: Uint8Array, from: number, to: number): string {
  if (from === to) return '';
  decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
  return decoder.decode(bytes.subarray(from, to));
}

/** Longest text that one call encodes, in UTF-16 units: it bounds the memory kept for encoding. */
export const ENCODE_LIMIT: number = 65_536;
const WORST_CASE = 3; // bytes per UTF-16 unit
const LONGEST_CHARACTER = 4; // bytes: with less room left over, some of the text may be missing

/** Bytes up to `length`; what follows them in `bytes` is left over from other texts. */
export interface Utf8Scratch {
  bytes: Uint8Array;
  length: number;
}

let encoder: InstanceType<typeof TextEncoder> | undefined;
let spare: Utf8Scratch | undefined;

function allocate(size: number): Uint8Array {
  return nativeBuffer?.allocUnsafeSlow(size) ?? new Uint8Array(size);
}

function write(text: string, target: Uint8Array): number {
  if (nativeBuffer !== undefined) return (target as NativeBuffer).write(text);
  encoder ??= new TextEncoder();
  return encoder.encodeInto(text, target).written;
}

// Three sizes only, so that a process with strings of all lengths soon stops allocating.
function capacityFor(size: number): number {
  const steps = [4096, ENCODE_LIMIT + LONGEST_CHARACTER];
  return steps.find((step) => step >= size) ?? ENCODE_LIMIT * WORST_CASE + LONGEST_CHARACTER;
}

/**
 * Encodes `text` into a buffer that is used again after `giveBack`: no garbage per call. A lone
 * surrogate becomes U+FFFD, as it does on the wire.
 * @param text at most ENCODE_LIMIT units.
 */
export function encodeUtf8(text: string): Utf8Scratch {
  // Out of its place while in use: a sink may cause another string to be encoded meanwhile.
  const scratch = spare ?? { bytes: allocate(capacityFor(0)), length: 0 };
  spare = undefined;
  const size = text.length + LONGEST_CHARACTER;
  if (scratch.bytes.length < size) scratch.bytes = allocate(capacityFor(size));
  scratch.length = write(text, scratch.bytes);
  if (scratch.length + LONGEST_CHARACTER > scratch.bytes.length) {
    const enough = text.length * WORST_CASE + LONGEST_CHARACTER;
    if (scratch.bytes.length < enough) {
      scratch.bytes = allocate(capacityFor(enough));
      scratch.length = write(text, scratch.bytes);
    }
  }
  return scratch;
}

/** Ends the use of what `encodeUtf8` returned. Left out when a sink throws, it costs one buffer. */
export function giveBack(scratch: Utf8Scratch): void {
  spare = scratch;
}
