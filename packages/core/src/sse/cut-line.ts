import { BoundedBytes } from './bounded-bytes.ts';

const COLON = 58;
const SPACE = 32;

/** What a line is: a field that is read, a comment, or neither. */
export const IGNORED = -1;
export const DATA = 0;
export const ID = 1;
export const EVENT = 2;
export const RETRY = 3;
export const COMMENT = 4;
const NAMES: readonly string[] = ['data', 'id', 'event', 'retry'];

const IN_NAME = 0;
const AFTER_COLON = 1;
const IN_VALUE = 2;

const VALUE_LIMIT = 6144; // bytes: 2,048 UTF-16 units of comment, and more than any other value

/** A line that is read in parts, because a chunk ends in it, or because it is rare. */
export class CutLine {
  kind: number = IGNORED;
  /** The value so far, of lines that are not data. */
  readonly value: BoundedBytes = new BoundedBytes(VALUE_LIMIT, 0);
  #progress: number = IN_VALUE;
  #matched = 0; // bytes of the name that have been read

  /** Begins a line whose first byte has been read and says what it may be. */
  begin(kind: number): void {
    this.kind = kind;
    this.#matched = 1;
    this.#progress = kind === COMMENT || kind === IGNORED ? IN_VALUE : IN_NAME;
  }

  /** Goes on to the value, because the name has been read elsewhere. */
  skipName(): void {
    this.#progress = IN_VALUE;
  }

  /** Reads bytes[from..to) up to the value; returns where the value begins or continues. */
  readName(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && this.#progress !== IN_VALUE) {
      const byte = bytes[at] as number;
      if (this.#progress === IN_NAME) {
        this.#matchName(byte);
        at += 1;
      } else {
        this.#progress = IN_VALUE;
        if (byte === SPACE) at += 1; // S6
      }
    }
    return at;
  }

  /** What the line is if it ends here; a field's name alone has an empty value. */
  get whole(): number {
    const named = this.#progress !== IN_NAME || this.#matched === NAMES[this.kind]?.length;
    return named ? this.kind : IGNORED;
  }

  #matchName(byte: number): void {
    const name = NAMES[this.kind];
    if (byte === COLON && this.#matched === name?.length) this.#progress = AFTER_COLON;
    else if (byte === name?.charCodeAt(this.#matched)) this.#matched += 1;
    else {
      this.kind = IGNORED;
      this.#progress = IN_VALUE;
    }
  }
}
