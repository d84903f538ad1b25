const NONE: Uint8Array = new Uint8Array(0);
const SMALLEST = 64; // bytes of storage

/** Bytes that come in parts, kept up to a limit and counted beyond it. */
export class BoundedBytes {
  /** The bytes kept are the first ones, up to the smaller of `length` and `limit`. */
  bytes: Uint8Array = NONE;
  /** How many bytes came, kept or not. */
  length = 0;
  readonly limit: number;
  readonly #idle: number;

  /** @param idle most bytes of storage that outlive `clear`, to be used again. */
  constructor(limit: number, idle: number) {
    this.limit = limit;
    this.#idle = idle;
  }

  append(bytes: Uint8Array, from: number, to: number): void {
    const kept = Math.min(this.length, this.limit);
    const taken = Math.min(to - from, this.limit - kept);
    if (kept + taken > this.bytes.length) this.#grow(kept, kept + taken);
    if (taken > 0) this.bytes.set(bytes.subarray(from, from + taken), kept);
    this.length += to - from;
  }

  clear(): void {
    this.length = 0;
    if (this.bytes.length > this.#idle) this.bytes = NONE;
  }

  #grow(kept: number, needed: number): void {
    const grown = new Uint8Array(Math.min(this.limit, Math.max(SMALLEST, 2 * needed)));
    grown.set(this.bytes.subarray(0, kept));
    this.bytes = grown;
  }
}
