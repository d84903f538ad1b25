import { BoundedBytes } from './bounded-bytes.ts';
import { decodeUtf8 } from './utf8.ts';

const WORST_CASE = 3; // bytes of UTF-8 for one UTF-16 unit
const NEWLINE: Uint8Array = Uint8Array.of(10);

/** Data and name of the event that is being read, as text. */
export class KeptText {
  name = '';
  readonly #bytes: BoundedBytes;
  readonly #maxChars: number;
  #text: string | undefined = undefined;

  /** @param maxChars longest data that is kept, in UTF-16 units. */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
    this.#bytes = new BoundedBytes(maxChars * WORST_CASE);
  }

  /** Sets a further line of data off from those before it. */
  joinLine(): void {
    this.append(NEWLINE, 0, 1);
  }

  append(bytes: Uint8Array, from: number, to: number): void {
    this.#bytes.append(bytes, from, to);
  }

  /** The joined data, decoded at the first read; undefined when longer than `maxChars`. */
  get data(): string | undefined {
    const { bytes, length, limit } = this.#bytes;
    if (this.#text === undefined && length <= limit) this.#text = decodeUtf8(bytes, 0, length);
    return (this.#text?.length ?? 0) > this.#maxChars ? undefined : this.#text;
  }

  /** Makes room for the next event. */
  clear(): void {
    this.name = '';
    this.#text = undefined;
    this.#bytes.clear();
  }
}
