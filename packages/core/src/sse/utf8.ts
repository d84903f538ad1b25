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

const PIECE = 65_536; // UTF-16 units encoded at a time: bounds the memory kept for it
const WORST_CASE = 3; // bytes per UTF-16 unit
const SLACK = 4; // the longest character: with less room left over, some text may be missing
const SIZES: readonly number[] = [4096, PIECE + SLACK, PIECE * WORST_CASE + SLACK];

/** A piece of text as UTF-8. */
export interface Utf8Piece {
  /** The text up to `length`; behind it CR LF, where a native search stops, and remains. */
  bytes: Uint8Array;
  length: number;
  /** Where in the text the next piece starts. */
  next: number;
}

let encoder: InstanceType<typeof TextEncoder> | undefined;
let spare: Utf8Piece | undefined;

// Few sizes, so that a process that writes texts of all lengths soon stops allocating.
function allocate(size: number): Uint8Array {
  const capacity = SIZES.find((step) => step >= size) ?? size;
  return nativeBuffer?.allocUnsafeSlow(capacity) ?? new Uint8Array(capacity);
}

function write(text: string, piece: Utf8Piece): void {
  if (nativeBuffer !== undefined) piece.length = (piece.bytes as NativeBuffer).write(text);
  else {
    encoder ??= new TextEncoder();
    piece.length = encoder.encodeInto(text, piece.bytes).written;
  }
}

function cut(text: string, from: number): string {
  if (text.length - from <= PIECE) return from === 0 ? text : text.slice(from);
  const last = text.charCodeAt(from + PIECE - 1);
  const splitsPair = last >= 0xd800 && last < 0xdc00;
  return text.slice(from, from + PIECE - (splitsPair ? 1 : 0));
}

/**
 * Encodes the text from `from` on, or its first 64 Ki units, into memory that is used again after
 * `giveBack`. A lone surrogate becomes U+FFFD, as it does on the wire.
 */
export function encodeUtf8(text: string, from: number): Utf8Piece {
  // Out of its place while in use: a sink may cause another text to be encoded meanwhile.
  const piece = spare ?? { bytes: allocate(0), length: 0, next: 0 };
  spare = undefined;
  const part = cut(text, from);
  piece.next = from + part.length;
  if (piece.bytes.length < part.length + SLACK) piece.bytes = allocate(part.length + SLACK);
  write(part, piece);
  const enough = part.length * WORST_CASE + SLACK;
  if (piece.length + SLACK > piece.bytes.length && piece.bytes.length < enough) {
    piece.bytes = allocate(enough);
    write(part, piece);
  }
  piece.bytes[piece.length] = 13;
  piece.bytes[piece.length + 1] = 10;
  return piece;
}

/** Ends the use of a piece. Left out because a sink threw, it costs one allocation. */
export function giveBack(piece: Utf8Piece): void {
  spare = piece;
}
