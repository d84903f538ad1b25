import { BoundedBytes } from './bounded-bytes.ts';
import { indexOfByte } from './native-bytes.ts';
import { ENCODE_LIMIT, encodeUtf8, giveBack } from './utf8.ts';

const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const ZERO = 48;
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];

// How far the line at hand has been read.
const AT_START = 0;
const AFTER_CR = 1; // at a start too, where an LF still belongs to the line before (S1)
const IN_BOM = 2;
const IN_NAME = 3;
const AFTER_COLON = 4;
const IN_VALUE = 5;
const IN_IGNORED = 6;

// Fields, and comments as a field without a name.
const IGNORED = -1;
const DATA = 0;
/** Field kinds whose whole values go to `takeField`. */
export const ID = 1;
export const EVENT = 2;
export const RETRY = 3;
export const COMMENT = 4;
const NOTHING = new Uint8Array(0);
const NAMES: readonly string[] = ['data', 'id', 'event', 'retry', ''];

const LONGEST_START = 7; // bytes of 'event: '
const SHORT = 48; // bytes walked by hand before a native search is worth its 30 to 40 ns

/** Most bytes of a value that is cut by ends of chunks; of a longer one only the length goes on. */
export const VALUE_LIMIT: number = 6144;

/**
 * The framing half of the scanner: finds lines, fields and values in chunks that are cut anywhere
 * (S1, S2, S6). What the fields mean is the other half's business. A base class, not a part, because
 * a part costs 60 bytes for every open stream.
 */
export abstract class LineReader {
  #state: number = IN_BOM;
  #kind: number = DATA;
  #matched = 0; // bytes of the name, or of the byte order mark, that have been read
  #nextCr = 0; // place of the next CR in this chunk; below the place asked for: not looked up yet
  #cut: BoundedBytes | undefined = undefined;

  /** Whether the value of EVENT or COMMENT lines is wanted; the others' always are. */
  protected abstract wants(kind: number): boolean;
  protected abstract openData(): void;
  protected abstract takeData(bytes: Uint8Array, from: number, to: number): void;
  protected abstract closeData(): void;
  protected abstract takeIdNumber(value: number, digits: number): void;
  /** A value of `length` bytes at `from`; if they are more than VALUE_LIMIT, perhaps not all there. */
  protected abstract takeField(kind: number, bytes: Uint8Array, from: number, length: number): void;
  protected abstract passLine(): void;
  protected abstract endBlock(): void;

  /** Takes the next bytes of the stream. They are not referred to after the call. */
  push(bytes: Uint8Array): void {
    this.#scan(bytes, bytes.length);
  }

  /** Takes text that goes out as UTF-8. Text and bytes may alternate on one stream. */
  pushString(text: string): void {
    // Flattens a rope in native code, as the encoder would at twice the cost. The result is used,
    // for a call without effect would be optimised away.
    const firstLf = text.indexOf('\n');
    if (firstLf < 0 && this.#state === IN_IGNORED && text.indexOf('\r') < 0) return;
    let at = 0;
    while (text.length - at > ENCODE_LIMIT) {
      const last = text.charCodeAt(at + ENCODE_LIMIT - 1);
      const end = at + ENCODE_LIMIT - ((last & 0xfc00) === 0xd800 ? 1 : 0); // pairs stay together
      this.#scanText(text.slice(at, end));
      at = end;
    }
    this.#scanText(at === 0 ? text : text.slice(at));
  }

  /** Gives up the line at hand. */
  protected dropLine(): void {
    this.#state = AT_START;
    this.#cut?.clear();
  }

  /** Whether no byte of a line has been read since the last line's end. */
  protected betweenLines(): boolean {
    return this.#state <= AFTER_CR || (this.#state === IN_BOM && this.#matched === 0);
  }

  #scanText(text: string): void {
    const encoded = encodeUtf8(text);
    const { bytes, length } = encoded;
    // Native searches run on into what earlier texts left there: these two stop them.
    bytes[length] = CR;
    bytes[length + 1] = LF;
    this.#scan(bytes, length);
    giveBack(encoded);
  }

  #scan(bytes: Uint8Array, end: number): void {
    this.#nextCr = -1;
    for (let at = 0; at < end; ) {
      const inPart = this.#state !== AT_START || end - at < LONGEST_START;
      at = inPart ? this.#readPart(bytes, at, end) : this.#readLine(bytes, at, end);
    }
  }

  // A line that starts at `at`, with its name in this chunk.
  #readLine(bytes: Uint8Array, at: number, end: number): number {
    const first = bytes[at] as number;
    if (first === LF || first === CR) {
      this.endBlock();
      return this.#afterLine(bytes, at, end);
    }
    if (first === 0x64 && isData(bytes, at)) {
      const next = bytes[at + 4] as number;
      if (next === COLON) return this.#readData(bytes, afterSpace(bytes, at + 5), end);
      if (next === LF || next === CR) return this.#readData(bytes, at + 4, end);
    } else if (first === 0x69 && bytes[at + 1] === 0x64) {
      const next = bytes[at + 2] as number;
      if (next === COLON) return this.#readId(bytes, afterSpace(bytes, at + 3), end);
      if (next === LF || next === CR) return this.#readId(bytes, at + 2, end);
    } else if (this.#kindOf(first) !== IGNORED) return this.#readPart(bytes, at, end);
    const lineEnd = this.#lineEnd(bytes, at, end);
    if (lineEnd === end) return this.#suspend(IN_IGNORED, IGNORED, end);
    this.passLine();
    return this.#afterLine(bytes, lineEnd, end);
  }

  #readData(bytes: Uint8Array, from: number, end: number): number {
    this.openData();
    const lineEnd = this.#lineEnd(bytes, from, end);
    this.takeData(bytes, from, lineEnd);
    if (lineEnd === end) return this.#suspend(IN_VALUE, DATA, end);
    this.closeData();
    return this.#afterLine(bytes, lineEnd, end);
  }

  #readId(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    let value = 0;
    for (; at < end; at += 1) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = (Math.imul(value, 10) + digit) | 0; // right up to nine digits
    }
    const digits = at - from;
    const canonical = digits > 0 && digits < 10 && (digits === 1 || bytes[from] !== ZERO);
    if (canonical && at < end && isLineEnd(bytes[at] as number)) {
      this.takeIdNumber(value, digits);
      return this.#afterLine(bytes, at, end);
    }
    const lineEnd = this.#lineEnd(bytes, at, end);
    if (lineEnd === end) {
      this.#collect(bytes, from, end);
      return this.#suspend(IN_VALUE, ID, end);
    }
    this.takeField(ID, bytes, from, lineEnd - from);
    return this.#afterLine(bytes, lineEnd, end);
  }

  // Any part of any line, byte by byte up to the value. Returns behind the line, or the end.
  #readPart(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    if (this.#state === AFTER_CR) {
      this.#state = AT_START;
      return bytes[at] === LF ? at + 1 : at;
    }
    while (at < end) {
      const byte = bytes[at] as number;
      if (isLineEnd(byte)) {
        this.#endLine();
        return this.#afterLine(bytes, at, end);
      }
      if (this.#state < IN_VALUE) at += this.#readName(byte);
      else {
        const lineEnd = this.#lineEnd(bytes, at, end);
        if (this.#state === IN_VALUE) this.#takePart(bytes, at, lineEnd);
        at = lineEnd;
      }
    }
    return at;
  }

  // One byte before the value; returns how many bytes it used, 0 or 1.
  #readName(byte: number): number {
    if (this.#state === IN_BOM) return this.#readBom(byte);
    if (this.#state === AFTER_COLON) {
      this.#openValue();
      return byte === SPACE ? 1 : 0; // S6
    }
    if (this.#state === AT_START) {
      this.#kind = this.#kindOf(byte);
      this.#matched = 1;
      this.#state = IN_NAME;
      if (this.#kind === COMMENT) this.#openValue();
      if (this.#kind === IGNORED) this.#state = IN_IGNORED;
      return 1;
    }
    const name = NAMES[this.#kind] as string;
    if (byte === COLON && this.#matched === name.length) this.#state = AFTER_COLON;
    else if (byte === name.charCodeAt(this.#matched)) this.#matched += 1;
    else this.#state = IN_IGNORED;
    return 1;
  }

  #readBom(byte: number): number {
    if (byte !== BOM[this.#matched]) {
      this.#state = this.#matched === 0 ? AT_START : IN_IGNORED;
      return 0;
    }
    this.#matched += 1;
    if (this.#matched === BOM.length) this.#state = AT_START;
    return 1;
  }

  #kindOf(first: number): number {
    if (first === 0x64) return DATA;
    if (first === 0x69) return ID;
    if (first === 0x72) return RETRY;
    if (first === 0x65 && this.wants(EVENT)) return EVENT;
    return first === COLON && this.wants(COMMENT) ? COMMENT : IGNORED;
  }

  #openValue(): void {
    this.#state = IN_VALUE;
    if (this.#kind === DATA) this.openData();
  }

  #takePart(bytes: Uint8Array, from: number, to: number): void {
    if (this.#kind === DATA) this.takeData(bytes, from, to);
    else this.#collect(bytes, from, to);
  }

  #collect(bytes: Uint8Array, from: number, to: number): void {
    this.#cut ??= new BoundedBytes(VALUE_LIMIT);
    this.#cut.append(bytes, from, to);
  }

  // Ends a line that `readPart` has read. A field's name alone is the field with an empty value.
  #endLine(): void {
    if (this.betweenLines()) {
      this.#state = AT_START;
      this.endBlock();
      return;
    }
    const named = this.#state === IN_NAME && this.#matched === NAMES[this.#kind]?.length;
    if (named || this.#state === AFTER_COLON) this.#openValue();
    if (this.#state !== IN_VALUE) this.passLine();
    else if (this.#kind === DATA) this.closeData();
    else {
      const cut = this.#cut;
      this.takeField(this.#kind, cut?.bytes ?? NOTHING, 0, cut?.length ?? 0);
      cut?.clear();
    }
  }

  #suspend(state: number, kind: number, end: number): number {
    this.#state = state;
    this.#kind = kind;
    return end;
  }

  // Where the line ends that reaches at least to `from`; `end` if that is not in this chunk.
  #lineEnd(bytes: Uint8Array, from: number, end: number): number {
    const near = end - from > SHORT ? from + SHORT : end;
    for (let i = from; i < near; i += 1) {
      const byte = bytes[i] as number;
      if (byte <= CR && isLineEnd(byte)) return i;
    }
    if (near === end) return end;
    if (this.#nextCr < near) {
      const cr = indexOfByte(bytes, CR, near);
      this.#nextCr = cr < 0 || cr > end ? end : cr;
    }
    const lf = indexOfByte(bytes, LF, near);
    return lf < 0 || lf > this.#nextCr ? this.#nextCr : lf;
  }

  // The place behind the line end at `at`, whose second half may come with the next chunk.
  #afterLine(bytes: Uint8Array, at: number, end: number): number {
    const next = at + 1;
    this.#state = AT_START;
    if (bytes[at] !== CR) return next;
    if (next === end) this.#state = AFTER_CR;
    else if (bytes[next] === LF) return next + 1;
    return next;
  }
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR;
}

function isData(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 1] === 0x61 && bytes[at + 2] === 0x74 && bytes[at + 3] === 0x61;
}

function afterSpace(bytes: Uint8Array, at: number): number {
  return bytes[at] === SPACE ? at + 1 : at;
}
