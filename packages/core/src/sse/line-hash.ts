import { mixWord, wordAt } from './hash32.ts';
import { copyBytes, startsWith } from './native-bytes.ts';

const COPY_FROM = 128; // bytes: below, the native copy costs more than putting words together
const RECALL_FROM = 512; // bytes: below, a comparison costs as much as the hash
const PIECE = 65_536; // bytes copied at a time
const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
const RECALL_TO = LITTLE_ENDIAN ? PIECE : 0; // bytes

let pieceBytes = new Uint8Array(0);
let pieceWords = new Int32Array(0);
// Of the line that lies in `pieceBytes`; no line has a length below 0.
let recalledLength = -1;
let recalledHash = 0;

/**
 * Hash of a line that arrives in parts; the same for every way of cutting. The line is read as
 * little-endian words that go to four lanes in turn: four independent chains of multiplications,
 * read from an aligned copy, take less time than zlib's crc32 at any length.
 */
export class LineHash {
  // The lane whose turn is next, then the others in order.
  #a = 1;
  #b = 2;
  #c = 3;
  #d = 4;
  #word = 0; // the bytes that do not fill a word yet
  #length = 0;

  /** Takes bytes[from..to), the whole line or its next part. */
  part(bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    const filled = this.#length & 3;
    this.#length += to - from;
    if (filled !== 0) at = this.#fillWord(bytes, from, to, filled);
    const wordsEnd = at + ((to - at) & ~3);
    if (wordsEnd - at >= COPY_FROM && LITTLE_ENDIAN) this.#copied(bytes, at, wordsEnd);
    else if (wordsEnd > at) this.#assembled(bytes, at, wordsEnd);
    for (let shift = 0, i = wordsEnd; i < to; i += 1, shift += 8) {
      this.#word |= (bytes[i] as number) << shift;
    }
  }

  /** Ends the line and begins another; returns 32 bits. */
  end(): number {
    const hash = together(this.#a, this.#b, this.#c, this.#d, this.#word, this.#length);
    this.#a = 1;
    this.#b = 2;
    this.#c = 3;
    this.#d = 4;
    this.#word = 0;
    this.#length = 0;
    return hash;
  }

  #fillWord(bytes: Uint8Array, from: number, to: number, filled: number): number {
    let at = from;
    let count = filled;
    for (; at < to && count < 4; at += 1, count += 1) {
      this.#word |= (bytes[at] as number) << (count << 3);
    }
    if (count === 4) {
      const mixed = mixWord(this.#a, this.#word);
      this.#a = this.#b;
      this.#b = this.#c;
      this.#c = this.#d;
      this.#d = mixed;
      this.#word = 0;
    }
    return at;
  }

  #assembled(bytes: Uint8Array, from: number, to: number): void {
    let a = this.#a;
    let b = this.#b;
    let c = this.#c;
    let d = this.#d;
    for (let at = from; at < to; at += 4) {
      const mixed = mixWord(a, wordAt(bytes, at));
      a = b;
      b = c;
      c = d;
      d = mixed;
    }
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }

  #copied(bytes: Uint8Array, from: number, to: number): void {
    if (pieceBytes.length === 0) {
      pieceBytes = new Uint8Array(PIECE);
      pieceWords = new Int32Array(pieceBytes.buffer);
    }
    recalledLength = -1;
    for (let at = from; at < to; at += PIECE) {
      const end = Math.min(to, at + PIECE);
      copyBytes(bytes, pieceBytes, at, end);
      this.#words(pieceWords, (end - at) >> 2);
    }
  }

  #words(words: Int32Array, count: number): void {
    let a = this.#a;
    let b = this.#b;
    let c = this.#c;
    let d = this.#d;
    let i = 0;
    for (; i + 4 <= count; i += 4) {
      a = mixWord(a, words[i] as number);
      b = mixWord(b, words[i + 1] as number);
      c = mixWord(c, words[i + 2] as number);
      d = mixWord(d, words[i + 3] as number);
    }
    for (; i < count; i += 1) {
      const mixed = mixWord(a, words[i] as number);
      a = b;
      b = c;
      c = d;
      d = mixed;
    }
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }
}

// The length tells a zero byte from none.
function together(
  a: number,
  b: number,
  c: number,
  d: number,
  word: number,
  length: number,
): number {
  const last = mixWord(mixWord(a, word), length);
  return mixWord(mixWord(mixWord(last, b), c), d);
}

// What most lines are. Between two events the caches are cold, so little code is fast code.
function hashShort(bytes: Uint8Array, from: number, to: number): number {
  let a = 1;
  let b = 2;
  let c = 3;
  let d = 4;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const mixed = mixWord(a, wordAt(bytes, at));
    a = b;
    b = c;
    c = d;
    d = mixed;
  }
  let word = 0;
  for (let shift = 0; at < to; at += 1, shift += 8) word |= (bytes[at] as number) << shift;
  return together(a, b, c, d, word, to - from);
}

// One for all streams: a line that lies in one chunk leaves nothing behind.
const whole = new LineHash();

/**
 * Hash of bytes[from..to) as one line. A broadcast writes one event to many readers, so a long line
 * is first compared with the one before, which takes an eighth of the time.
 */
export function hashLine(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from;
  if (length < COPY_FROM) return hashShort(bytes, from, to);
  if (length === recalledLength && startsWith(pieceBytes, bytes, from, to)) return recalledHash;
  whole.part(bytes, from, to);
  const hash = whole.end();
  if (length >= RECALL_FROM && length <= RECALL_TO) {
    // The words of the line lie there since `part`.
    for (let at = to - (length & 3); at < to; at += 1) pieceBytes[at - from] = bytes[at] as number;
    recalledLength = length;
    recalledHash = hash;
  }
  return hash;
}
