import { finishHash, mixWord } from './hash32.ts';
import { decodeUtf8 } from './utf8.ts';

/** Longest id that is kept, in bytes; longer ones are treated as if they had not been sent. */
export const ID_LIMIT: number = 4096;
const NO_NUMBER = -1;
const NO_ID = -1;
const ZERO = 48;
const SHORTEST_HALF = 32; // both halves then lie on the heap of V8, without a block of their own
const EXACT_DIGITS = 15; // every integer of 15 digits is exact in a double

/**
 * The cursor of a stream: the id of the last block that carried one, and the id of the block that is
 * being read (S4). A canonical integer is kept as its number alone; bytes are kept for all others.
 */
export class LastEventId {
  #number = NO_NUMBER;
  #length = NO_ID;
  #nextNumber = NO_NUMBER;
  #nextLength = NO_ID;
  // Both texts share one array, half each: a typed array costs some 200 bytes even when it is tiny.
  #texts: Uint8Array | undefined = undefined;
  #upper = false; // which half holds the committed one

  /** Takes a canonical integer of at most 15 digits as the id of this block. */
  setNumber(value: number, digits: number): void {
    this.#nextNumber = value;
    this.#nextLength = digits;
  }

  /** Takes the `length` bytes at `from` as the id of this block, unless they make no valid id. */
  set(bytes: Uint8Array, from: number, length: number): 'taken' | 'has_nul' | 'oversized' {
    if (length > ID_LIMIT) return 'oversized';
    const end = from + length;
    const value = canonicalInteger(bytes, from, end);
    if (value === NO_NUMBER) {
      for (let i = from; i < end; i += 1) if (bytes[i] === 0) return 'has_nul'; // S3
      this.#keepText(bytes, from, length);
    }
    this.#nextNumber = value;
    this.#nextLength = length;
    return 'taken';
  }

  /** Ends a block: its id, if it had one, becomes the cursor. Says whether it had one. */
  commit(): boolean {
    if (this.#nextLength === NO_ID) return false;
    this.#number = this.#nextNumber;
    this.#length = this.#nextLength;
    this.#nextLength = NO_ID;
    if (this.#number === NO_NUMBER) this.#upper = !this.#upper;
    return true;
  }

  /** Forgets the id of a block that will not end. */
  drop(): void {
    this.#nextLength = NO_ID;
  }

  /** Whether the block that is being read has carried an id. */
  get pending(): boolean {
    return this.#nextLength !== NO_ID;
  }

  get number(): number {
    return this.#number === NO_NUMBER ? Number.NaN : this.#number;
  }

  /** In bytes. */
  get length(): number {
    return Math.max(this.#length, 0);
  }

  /** A uint32 that is equal for equal ids; 0 only while there has been no id. */
  get tag(): number {
    if (this.#length === NO_ID) return 0;
    const value = this.#number;
    if (value !== NO_NUMBER) return finishHash(mixWord(value | 0, (value / 2 ** 32) | 0));
    const texts = this.#texts;
    let hash = ~this.#length;
    if (texts !== undefined) {
      const start = this.#upper ? texts.length >> 1 : 0;
      const end = start + this.#length;
      for (let i = start; i < end; i += 1) hash = mixWord(hash, texts[i] as number);
    }
    return finishHash(hash);
  }

  get text(): string {
    if (this.#length <= 0) return '';
    const texts = this.#texts;
    if (this.#number !== NO_NUMBER || texts === undefined) return String(this.#number);
    const start = this.#upper ? texts.length >> 1 : 0;
    return decodeUtf8(texts, start, start + this.#length);
  }

  #keepText(bytes: Uint8Array, from: number, length: number): void {
    if (length === 0) return;
    let texts = this.#texts;
    if (texts === undefined || texts.length >> 1 < length) texts = this.#grow(length);
    const start = this.#upper ? 0 : texts.length >> 1;
    for (let i = 0; i < length; i += 1) texts[start + i] = bytes[from + i] as number;
  }

  #grow(length: number): Uint8Array {
    let half = SHORTEST_HALF;
    while (half < length) half *= 2;
    const old = this.#texts;
    const grown = new Uint8Array(2 * half);
    if (old !== undefined) {
      const oldHalf = old.length >> 1;
      if (this.#upper) grown.set(old.subarray(oldHalf), half);
      else grown.set(old.subarray(0, oldHalf));
    }
    this.#texts = grown;
    return grown;
  }
}

/** The value of `0` or of up to 15 digits without a leading zero; else NO_NUMBER (S7). */
function canonicalInteger(bytes: Uint8Array, from: number, to: number): number {
  const digits = to - from;
  if (digits === 0 || digits > EXACT_DIGITS) return NO_NUMBER;
  if (bytes[from] === ZERO && digits > 1) return NO_NUMBER;
  let value = 0;
  for (let i = from; i < to; i += 1) {
    const digit = (bytes[i] as number) - ZERO;
    if (digit < 0 || digit > 9) return NO_NUMBER;
    value = value * 10 + digit;
  }
  return value;
}
