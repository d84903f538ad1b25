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
const LOW = 0xffff;
/** An id that comes back for ever must not make every event walk all of its past. */
const MAX_STEPS = 32;

// One array for everything: a typed array costs some 200 bytes of heap even when it is tiny. Each
// part below is as long as the capacity; ids come first.
const PAYLOADS = 1;
const MARKS = 2;
/** Slot of the next older event of the same chain, plus one: ids above, payloads below. */
const LINKS = 3;
/** Slot of the newest event of a chain, plus one, likewise. */
const HEADS = 4;
const PARTS = 5;

/**
 * What was delivered on one logical stream, bounded: 31-bit tags of id and payload with the
 * connection they came on, newest first in chains (as LZ77 finds its matches), so that an event
 * costs two short walks, no allocation, and eviction costs nothing: a link older than the window
 * ends its chain. 20 bytes an event, grown by doubling.
 */
export class SeenEvents {
  #capacity = 0;
  #count = 0;
  #words: Uint32Array = EMPTY;
  /** G4: something was forgotten, so whatever is counted is a lower bound. */
  exhausted = false;
  readonly #budget: { readonly share: number };

  /** @param budget Its share, a power of two up to 16,384: links are 16 bit wide. */
  constructor(budget: { readonly share: number }) {
    this.#budget = budget;
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
    const words = this.#words;
    const capacity = this.#capacity;
    let seen = SEEN_NONE;
    let slot = word(words, HEADS * capacity + (idTag & (capacity - 1))) >>> 16;
    for (let age = -1, n = 0; slot !== 0 && n < MAX_STEPS; n++) {
      const at = slot - 1;
      const older = this.#age(at);
      if (older <= age) break;
      age = older;
      slot = word(words, LINKS * capacity + at) >>> 16;
      if (word(words, at) !== idTag) continue;
      const isSame = payloadTag === 0 || word(words, PAYLOADS * capacity + at) === payloadTag;
      if (isSame) seen |= SEEN_SAME;
      else if (word(words, MARKS * capacity + at) === mark) {
        seen |= SEEN_OTHER_PAYLOAD | SEEN_ID_REUSED_HERE;
      } else seen |= SEEN_OTHER_PAYLOAD;
    }
    return seen;
  }

  #askPayload(payloadTag: number, mark: number): number {
    const words = this.#words;
    const capacity = this.#capacity;
    let seen = SEEN_NONE;
    let slot = word(words, HEADS * capacity + (payloadTag & (capacity - 1))) & LOW;
    for (let age = -1, n = 0; slot !== 0 && n < MAX_STEPS; n++) {
      const at = slot - 1;
      const older = this.#age(at);
      if (older <= age) break;
      age = older;
      slot = word(words, LINKS * capacity + at) & LOW;
      if (word(words, PAYLOADS * capacity + at) !== payloadTag) continue;
      seen |= SEEN_PAYLOAD;
      if (word(words, MARKS * capacity + at) === mark) return seen | SEEN_PAYLOAD_HERE;
    }
    return seen;
  }

  /** 0 for the newest; a chain that would turn younger has run into an overwritten slot. */
  #age(slot: number): number {
    return (this.#count - 1 - slot) & (this.#capacity - 1);
  }

  #remember(idTag: number, payloadTag: number, mark: number): void {
    const words = this.#words;
    const capacity = this.#capacity;
    const slot = this.#count & (capacity - 1);
    const idHead = HEADS * capacity + (idTag & (capacity - 1));
    const payloadHead = HEADS * capacity + (payloadTag & (capacity - 1));
    words[slot] = idTag;
    words[PAYLOADS * capacity + slot] = payloadTag;
    words[MARKS * capacity + slot] = mark;
    words[LINKS * capacity + slot] =
      (word(words, idHead) & ~LOW) | (word(words, payloadHead) & LOW);
    words[idHead] = ((slot + 1) << 16) | (word(words, idHead) & LOW);
    words[payloadHead] = (word(words, payloadHead) & ~LOW) | (slot + 1);
    this.#count++;
  }

  #makeRoom(): void {
    if (this.#capacity < this.#budget.share) this.#grow();
    else this.exhausted = true;
  }

  #grow(): void {
    const size = this.#capacity;
    const first = this.#count;
    const old = this.#words;
    this.#capacity = Math.max(START, size * 2);
    this.#words = new Uint32Array(this.#capacity * PARTS);
    this.#count = 0;
    for (let n = 0; n < size; n++) {
      const slot = (first + n) & (size - 1);
      const payloadTag = word(old, PAYLOADS * size + slot);
      this.#remember(word(old, slot), payloadTag, word(old, MARKS * size + slot));
    }
  }
}

const EMPTY: Uint32Array = new Uint32Array(0);

/** Every index used is inside the array. */
function word(words: Uint32Array, index: number): number {
  return words[index] as number;
}
