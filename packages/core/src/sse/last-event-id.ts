import { finishHash, ID_SEED, mixBytes, mixWord } from './hash32.ts';
import { digitsValue, firstControl, isLineEnd } from './line-bytes.ts';
import { decodeUtf8 } from './utf8.ts';

// Longest id that is kept, in bytes; longer ones are treated as if they had not been sent.
const ID_LIMIT: number = 4096;
const NO_ID = -1;
const SOME_ID = 1; // of a number, which tells its length itself
const NO_NUMBER = -1; // as `digitsValue` has it
const STORED = -1;
const NOTHING = new Uint8Array(0);
const ZERO = 48;
const EXACT_DIGITS = 15; // every integer of 15 digits is exact in a double
const INT32_DIGITS = 9; // and of nine in an int32
const SHORTEST_HALF = 32; // both halves then lie on the heap of V8, without a block of their own

/**
 * The cursor of a stream: the id of the last block that carried one, and the id of the block that is
 * being read (S4). A canonical integer is kept as its number alone. Other ids stay in their chunk
 * until it has been read, as most of them are replaced before that, and are stored then.
 */
export class LastEventId {
  #number = NO_NUMBER;
  #length = NO_ID;
  #at = STORED; // where the text is in the chunk
  #nextNumber = NO_NUMBER;
  #nextLength = NO_ID;
  #nextAt = STORED;
  #chunk: Uint8Array | undefined = undefined;
  // Both texts share one array, half each: a typed array costs some 200 bytes even when it is tiny.
  #texts: Uint8Array | undefined = undefined;
  #inUpper = false; // which half the committed text has

  /**
   * Takes a canonical integer of up to nine digits as the id of this block, if one stands at `from`
   * and a line end follows. Returns where that is, or -1.
   */
  setInteger(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    let value = 0;
    for (; at < end; at += 1) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = (Math.imul(value, 10) + digit) | 0;
    }
    const digits = at - from;
    if (at === end || digits === 0 || digits > INT32_DIGITS) return -1;
    if (!isLineEnd(bytes[at] as number) || (bytes[from] === ZERO && digits > 1)) return -1;
    this.#nextNumber = value;
    this.#nextLength = digits;
    this.#nextAt = STORED;
    return at;
  }

  /**
   * Takes bytes[from..to) as the id of this block, unless that makes no valid id. The bytes must not
   * change before `store`.
   */
  set(bytes: Uint8Array, from: number, to: number): 'taken' | 'has_nul' | 'oversized' {
    if (to - from > ID_LIMIT) return 'oversized';
    if (hasNul(bytes, from, to)) return 'has_nul'; // S3
    this.setPlain(bytes, from, to);
    return 'taken';
  }

  /** As `set`, for bytes that are known to make a valid id. */
  setPlain(bytes: Uint8Array, from: number, to: number): void {
    const value = canonicalInteger(bytes, from, to);
    if (value === NO_NUMBER) this.#chunk = bytes;
    this.#nextAt = value === NO_NUMBER ? from : STORED;
    this.#nextNumber = value;
    this.#nextLength = to - from;
  }

  /** Ends a block: its id, if it had one, becomes the cursor. Says whether it had one. */
  commit(): boolean {
    if (this.#nextLength === NO_ID) return false;
    this.#number = this.#nextNumber;
    this.#length = this.#nextLength;
    this.#at = this.#nextAt;
    if (this.#number === NO_NUMBER && this.#at === STORED) this.#inUpper = !this.#inUpper;
    this.#nextLength = NO_ID;
    return true;
  }

  /** Forgets the id of a block that will not end. */
  drop(): void {
    this.#nextLength = NO_ID;
  }

  /** Copies what still lies in the chunk, before that is given back. */
  store(): void {
    const chunk = this.#chunk;
    if (chunk === undefined) return;
    if (this.#at !== STORED) this.#keep(chunk, this.#at, this.#length, this.#inUpper);
    this.#at = STORED;
    if (this.#nextLength !== NO_ID && this.#nextAt !== STORED) {
      this.#keep(chunk, this.#nextAt, this.#nextLength, !this.#inUpper);
      this.#nextAt = STORED;
    }
    this.#chunk = undefined;
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
    if (this.#number !== NO_NUMBER) return String(this.#number).length;
    return Math.max(this.#length, 0);
  }

  /** Between two blocks: as if there had been no id. */
  forget(): void {
    this.#number = NO_NUMBER;
    this.#length = NO_ID;
    this.#at = STORED;
  }

  /** Between two blocks: makes an id that `number` told the cursor again. */
  restore(value: number): void {
    this.#number = value;
    this.#length = SOME_ID;
    this.#at = STORED;
  }

  /** An integer below 2^31 that is equal for equal ids; 0 only while there has been no id. */
  get tag(): number {
    const value = this.#number;
    if (value !== NO_NUMBER) return finishHash(mixWord(value | 0, (value / 2 ** 32) | 0));
    if (this.#length === NO_ID) return 0;
    const start = this.#start();
    return finishHash(mixBytes(ID_SEED, this.#source(), start, start + this.#length));
  }

  get text(): string {
    if (this.#number !== NO_NUMBER) return String(this.#number);
    const start = this.#start();
    return decodeUtf8(this.#source(), start, start + this.length);
  }

  #source(): Uint8Array {
    return (this.#at === STORED ? this.#texts : this.#chunk) ?? NOTHING;
  }

  #start(): number {
    if (this.#at !== STORED) return this.#at;
    return this.#inUpper ? this.#source().length >> 1 : 0;
  }

  #keep(bytes: Uint8Array, from: number, length: number, inUpper: boolean): void {
    let texts = this.#texts ?? NOTHING;
    if (texts.length >> 1 < length) texts = this.#grow(texts, length);
    const start = inUpper ? texts.length >> 1 : 0;
    for (let i = 0; i < length; i += 1) texts[start + i] = bytes[from + i] as number;
  }

  // The committed text moves along, if it is stored.
  #grow(texts: Uint8Array, length: number): Uint8Array {
    const oldHalf = texts.length >> 1;
    let half = SHORTEST_HALF;
    while (half < length) half *= 2;
    const grown = new Uint8Array(2 * half);
    if (this.#inUpper) grown.set(texts.subarray(oldHalf), half);
    else grown.set(texts.subarray(0, oldHalf));
    this.#texts = grown;
    return grown;
  }
}

// The value of `0` or of up to 15 digits without a leading zero; else NO_NUMBER (S7).
function canonicalInteger(bytes: Uint8Array, from: number, to: number): number {
  const digits = to - from;
  if (digits > EXACT_DIGITS || (bytes[from] === ZERO && digits > 1)) return NO_NUMBER;
  return digitsValue(bytes, from, to);
}

function hasNul(bytes: Uint8Array, from: number, to: number): boolean {
  let at = firstControl(bytes, from, to);
  while (at < to && bytes[at] !== 0) at = firstControl(bytes, at + 1, to);
  return at < to;
}
