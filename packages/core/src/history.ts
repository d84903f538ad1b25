/** How one event stands to those remembered; a set of flags, so that asking costs no object. */
export const SEEN_NONE = 0;
/** Same id and same payload. */
export const SEEN_SAME = 1;
/** Same id, another payload (R8, G3). */
export const SEEN_OTHER_PAYLOAD = 2;
/** Same payload under any id or none. */
export const SEEN_PAYLOAD = 4;
/** Same payload earlier on the same connection. */
export const SEEN_PAYLOAD_HERE = 8;
/** Same id and another payload earlier on the same connection. */
export const SEEN_ID_REUSED_HERE = 16;

const START = 8;
/** The links are 16 bit wide. */
export const MAX_HISTORY = 16_384;
/** An id that comes back for ever must not make every event walk all of its past. */
const MAX_STEPS = 32;

/**
 * What was delivered on one logical stream, bounded: 32-bit tags of id and payload with the
 * connection they came on, newest first in chains (as LZ77 finds its matches), so that an event
 * costs two short walks, no allocation, and eviction costs nothing: a link older than the window
 * ends its chain. 18 bytes an event, grown by doubling.
 */
export class SeenEvents {
  #capacity = 0;
  #count = 0;
  #exhausted = false;
  readonly #limit: () => number;
  #ids: Uint32Array = EMPTY32;
  #payloads: Uint32Array = EMPTY32;
  #marks: Uint16Array = EMPTY16;
  #idHeads: Uint16Array = EMPTY16;
  #idLinks: Uint16Array = EMPTY16;
  #payloadHeads: Uint16Array = EMPTY16;
  #payloadLinks: Uint16Array = EMPTY16;

  /** @param limit events to remember at the moment, a power of two up to 16,384. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** G4: something was forgotten, so whatever is counted is a lower bound. */
  get exhausted(): boolean {
    return this.#exhausted;
  }

  /**
   * @param idTag 0 when the event has no id of its own.
   * @param payloadTag 0 when payloads are not compared.
   * @param mark low 16 bits of the connection's number.
   */
  observe(idTag: number, payloadTag: number, mark: number): number {
    let seen = SEEN_NONE;
    if (this.#capacity > 0) {
      if (idTag !== 0) seen = this.#askId(idTag, payloadTag, mark);
      if (payloadTag !== 0) seen |= this.#askPayload(payloadTag, mark);
    }
    if (this.#count >= this.#capacity) this.#makeRoom();
    this.#remember(idTag, payloadTag, mark);
    return seen;
  }

  #askId(idTag: number, payloadTag: number, mark: number): number {
    const mask = this.#capacity - 1;
    let seen = SEEN_NONE;
    let slot = this.#idHeads[idTag & mask] ?? 0;
    for (let age = -1, n = 0; slot !== 0 && n < MAX_STEPS; slot = this.#idLinks[slot - 1] ?? 0) {
      n++;
      const older = this.#age(slot - 1);
      if (older <= age) break;
      age = older;
      if (this.#ids[slot - 1] !== idTag) continue;
      if (payloadTag === 0 || this.#payloads[slot - 1] === payloadTag) seen |= SEEN_SAME;
      else if (this.#marks[slot - 1] === mark) seen |= SEEN_OTHER_PAYLOAD | SEEN_ID_REUSED_HERE;
      else seen |= SEEN_OTHER_PAYLOAD;
    }
    return seen;
  }

  #askPayload(payloadTag: number, mark: number): number {
    const mask = this.#capacity - 1;
    let seen = SEEN_NONE;
    let slot = this.#payloadHeads[payloadTag & mask] ?? 0;
    for (
      let age = -1, n = 0;
      slot !== 0 && n < MAX_STEPS;
      slot = this.#payloadLinks[slot - 1] ?? 0
    ) {
      n++;
      const older = this.#age(slot - 1);
      if (older <= age) break;
      age = older;
      if (this.#payloads[slot - 1] !== payloadTag) continue;
      seen |= SEEN_PAYLOAD;
      if (this.#marks[slot - 1] === mark) return seen | SEEN_PAYLOAD_HERE;
    }
    return seen;
  }

  /** 0 for the newest; a chain that would turn younger has run into an overwritten slot. */
  #age(slot: number): number {
    return (this.#count - 1 - slot) & (this.#capacity - 1);
  }

  #remember(idTag: number, payloadTag: number, mark: number): void {
    const mask = this.#capacity - 1;
    const slot = this.#count & mask;
    this.#ids[slot] = idTag;
    this.#payloads[slot] = payloadTag;
    this.#marks[slot] = mark;
    this.#idLinks[slot] = this.#idHeads[idTag & mask] ?? 0;
    this.#idHeads[idTag & mask] = slot + 1;
    this.#payloadLinks[slot] = this.#payloadHeads[payloadTag & mask] ?? 0;
    this.#payloadHeads[payloadTag & mask] = slot + 1;
    this.#count++;
  }

  #makeRoom(): void {
    if (this.#capacity < this.#limit()) this.#grow();
    else this.#exhausted = true;
  }

  #grow(): void {
    const size = this.#capacity;
    const first = this.#count;
    const ids = this.#ids;
    const payloads = this.#payloads;
    const marks = this.#marks;
    this.#capacity = Math.max(START, this.#capacity * 2);
    this.#ids = new Uint32Array(this.#capacity);
    this.#payloads = new Uint32Array(this.#capacity);
    this.#marks = new Uint16Array(this.#capacity);
    this.#idHeads = new Uint16Array(this.#capacity);
    this.#idLinks = new Uint16Array(this.#capacity);
    this.#payloadHeads = new Uint16Array(this.#capacity);
    this.#payloadLinks = new Uint16Array(this.#capacity);
    this.#count = 0;
    for (let n = 0; n < size; n++) {
      const slot = (first + n) & (size - 1);
      this.#remember(ids[slot] ?? 0, payloads[slot] ?? 0, marks[slot] ?? 0);
    }
  }
}

const EMPTY16: Uint16Array = new Uint16Array(0);
const EMPTY32: Uint32Array = new Uint32Array(0);
