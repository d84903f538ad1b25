// Fingerprints of ids and payloads inside one process: 31 bits, well spread, not for secrets.

const MULTIPLIER = 0x9e3779b1 | 0; // 2^32 over the golden ratio, odd: every step can be undone

/** Where the hash of an id's bytes starts. */
export const ID_SEED: number = -1;

/** Where the hash of a payload's lines starts. */
export const NO_LINES: number = 0;

/** Takes 32 bits into `hash`; two different words never lead from one hash to the same next one. */
export function mixWord(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, MULTIPLIER);
  return (mixed << 15) | (mixed >>> 17);
}

/** The four bytes at `at` as a little-endian word. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

/** Takes bytes[from..to) and their number into `hash`. */
export function mixBytes(hash: number, bytes: Uint8Array, from: number, to: number): number {
  let mixed = mixWord(hash, to - from);
  let at = from;
  for (; at + 4 <= to; at += 4) mixed = mixWord(mixed, wordAt(bytes, at));
  for (; at < to; at += 1) mixed = mixWord(mixed, bytes[at] as number);
  return mixed;
}

/**
 * Spreads every bit over the result: an integer above 0, for 0 means "none" to readers, and below
 * 2^31, for V8 allocates 16 bytes for a larger one when it is handed on.
 */
export function finishHash(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 1 || 1;
}
