const NONE: Uint8Array = new Uint8Array(0);
const IDLE_ROOM = 64; // bytes of storage that outlive a value

/** Bytes that come in parts, kept up to a limit and counted beyond it. */
export class BoundedBytes {
  /** The bytes kept are the first ones, up to the smaller of `length` and `limit`. */
  bytes: Uint8Array = NONE;
  /** How many bytes came, kept or not. */
  length = 0;
  readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
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
    if (this.bytes.length > IDLE_ROOM) this.bytes = NONE;
  }

  #grow(kept: number, needed: number): void {
    const grown = new Uint8Array(Math.min(this.limit, Math.max(IDLE_ROOM, 2 * needed)));
    grown.set(this.bytes.subarray(0, kept));
    this.bytes = grown;
  }
}
