import { BoundedBytes } from './bounded-bytes.ts';
import { decodeUtf8 } from './utf8.ts';

const WORST_CASE = 3; // bytes of UTF-8 for one UTF-16 unit
const IDLE = 1024; // bytes: the data of most events
const LINE_FEED: Uint8Array = Uint8Array.of(10);

/** Data and name of the event that is being read, as text. */
export class KeptText {
  name = '';
  readonly #lines: BoundedBytes;
  readonly #maxChars: number;
  #text: string | undefined = undefined;

  /** @param maxChars longest data that is kept, in UTF-16 units. */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
    this.#lines = new BoundedBytes(maxChars * WORST_CASE + 1, IDLE);
  }

  append(bytes: Uint8Array, from: number, to: number): void {
    this.#lines.append(bytes, from, to);
  }

  endLine(): void {
    this.#lines.append(LINE_FEED, 0, 1);
  }

  /** The data, without the last line's end; undefined when longer than `maxChars`. */
  get data(): string | undefined {
    const { bytes, length, limit } = this.#lines;
    if (length > limit) return undefined;
    this.#text ??= decodeUtf8(bytes, 0, length - 1);
    return this.#text.length > this.#maxChars ? undefined : this.#text;
  }

  /** Makes room for the next event. */
  clear(): void {
    this.name = '';
    this.#text = undefined;
    this.#lines.clear();
  }
}
