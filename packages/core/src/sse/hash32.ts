// Fingerprints of ids and payloads inside one process: 32 bits, well spread, not for secrets.

const MULTIPLIER = 0x9e3779b1 | 0; // 2^32 over the golden ratio, odd: the step can be undone

/** Takes 32 bits into `hash`. Two different words never lead from one hash to the same next. */
export function mixWord(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, MULTIPLIER);
  return mixed ^ (mixed >>> 15);
}

/** Spreads every bit over the result: a uint32 that is never 0, for 0 means "none" to readers. */
export function finishHash(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0 || 1;
}
