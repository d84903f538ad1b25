import type { HistoryShare } from './history-memory.ts';

/** How one event stands to those remembered; a set of flags, so that asking costs no object. */
const SEEN_NONE = 0;
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
const SMALL = 64;
const LOW = 0xffff;
/** An id that comes back for ever must not make every event walk all of its past. */
const MAX_STEPS = 32;

// Of one event, side by side because they are read and written together.
const ID = 0;
const PAYLOAD = 1;
const MARK = 2;
/** Slot of the next older event of the same chain, plus one: ids above, payloads below. */
const LINKS = 3;
const EVENT_WORDS = 4;
/** Behind the events, a word for each slot: the newest event of a chain, plus one, likewise. */
const HEAD_WORDS = 1;

/**
 * What was delivered on one logical stream, bounded: 31-bit tags of id and payload with the
 * connection they came on, newest first in chains (as LZ77 finds its matches), so that an event
 * costs two short walks, no allocation, and eviction costs nothing: a link older than the window
 * ends its chain. 20 bytes an event, grown by steps.
 */
export class SeenEvents {
  #capacity = 0;
  #count = 0;
  #words: Uint32Array = EMPTY;
  #base = 0;
  /** G4: something was forgotten, so whatever is counted is a lower bound. */
  exhausted = false;
  /** Mark of the connection on which the log began that the stream is reading; −1: none did anew. */
  #logFrom = -1;
  readonly #memory: HistoryShare;

  constructor(memory: HistoryShare) {
    this.#memory = memory;
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

  /**
   * The log began anew on the connection `mark`: what came under an id before that says nothing
   * about the id from now on (R8). It still tells which payloads are repeated (G2).
   */
  beginLog(mark: number): void {
    this.#logFrom = mark;
  }

  /** Forgets all of it and gives its memory back. */
  release(): void {
    if (this.#capacity > 0) this.#giveBack(this.#words, this.#base, this.#capacity);
    this.#capacity = 0;
    this.#count = 0;
    this.#words = EMPTY;
    this.#base = 0;
  }

  #askId(idTag: number, payloadTag: number, mark: number): number {
    const words = this.#words;
    let seen = SEEN_NONE;
    let slot = word(words, this.#headOf(idTag)) >>> 16;
    for (let age = -1, n = 0; slot !== 0 && n < MAX_STEPS; n++) {
      const older = this.#age(slot - 1);
      if (older <= age) break;
      age = older;
      const at = this.#base + EVENT_WORDS * (slot - 1);
      slot = word(words, at + LINKS) >>> 16;
      if (word(words, at + ID) !== idTag) continue;
      if (payloadTag === 0 || word(words, at + PAYLOAD) === payloadTag) seen |= SEEN_SAME;
      else if (word(words, at + MARK) === mark) seen |= SEEN_OTHER_PAYLOAD | SEEN_ID_REUSED_HERE;
      else if (this.#isOfLog(word(words, at + MARK), mark)) seen |= SEEN_OTHER_PAYLOAD;
    }
    return seen;
  }

  /** Marks are compared by how long ago their connections were: they begin again after 65,536. */
  #isOfLog(then: number, now: number): boolean {
    return this.#logFrom < 0 || ((now - then) & LOW) <= ((now - this.#logFrom) & LOW);
  }

  #askPayload(payloadTag: number, mark: number): number {
    const words = this.#words;
    let seen = SEEN_NONE;
    let slot = word(words, this.#headOf(payloadTag)) & LOW;
    for (let age = -1, n = 0; slot !== 0 && n < MAX_STEPS; n++) {
      const older = this.#age(slot - 1);
      if (older <= age) break;
      age = older;
      const at = this.#base + EVENT_WORDS * (slot - 1);
      slot = word(words, at + LINKS) & LOW;
      if (word(words, at + PAYLOAD) !== payloadTag) continue;
      seen |= SEEN_PAYLOAD;
      if (word(words, at + MARK) === mark) return seen | SEEN_PAYLOAD_HERE;
    }
    return seen;
  }

  #headOf(tag: number): number {
    return this.#base + EVENT_WORDS * this.#capacity + (tag & (this.#capacity - 1));
  }

  /** 0 for the newest; a chain that would turn younger has run into an overwritten slot. */
  #age(slot: number): number {
    return (this.#count - 1 - slot) & (this.#capacity - 1);
  }

  #remember(idTag: number, payloadTag: number, mark: number): void {
    const words = this.#words;
    const slot = this.#count & (this.#capacity - 1);
    const at = this.#base + EVENT_WORDS * slot;
    const idHead = this.#headOf(idTag);
    const payloadHead = this.#headOf(payloadTag);
    words[at + ID] = idTag;
    words[at + PAYLOAD] = payloadTag;
    words[at + MARK] = mark;
    words[at + LINKS] = (word(words, idHead) & ~LOW) | (word(words, payloadHead) & LOW);
    words[idHead] = ((slot + 1) << 16) | (word(words, idHead) & LOW);
    words[payloadHead] = (word(words, payloadHead) & ~LOW) | (slot + 1);
    this.#count++;
  }

  #makeRoom(): void {
    if (this.#capacity < this.#memory.share) this.#grow();
    else this.exhausted = true;
  }

  #grow(): void {
    const size = this.#capacity;
    const first = this.#count;
    const old = this.#words;
    const oldBase = this.#base;
    this.#capacity = nextCapacity(size, this.#memory.share);
    const { words, base } = this.#memory.pool.take(wordsFor(this.#capacity));
    this.#words = words;
    this.#base = base;
    this.#count = 0;
    for (let n = 0; n < size; n++) {
      const at = oldBase + EVENT_WORDS * ((first + n) & (size - 1));
      this.#remember(word(old, at + ID), word(old, at + PAYLOAD), word(old, at + MARK));
    }
    if (size > 0) this.#giveBack(old, oldBase, size);
  }

  #giveBack(words: Uint32Array, base: number, capacity: number): void {
    this.#memory.pool.giveBack({ words, base }, wordsFor(capacity));
  }
}

/** Doubled while streams are many and small; faster afterwards, as each step enters all anew. */
function nextCapacity(size: number, share: number): number {
  if (size < SMALL) return Math.max(START, 2 * size);
  return Math.min(4 * size, share);
}

const EMPTY: Uint32Array = new Uint32Array(0);

function wordsFor(capacity: number): number {
  return (EVENT_WORDS + HEAD_WORDS) * capacity;
}

/** Every index used is inside the array. */
function word(words: Uint32Array, index: number): number {
  return words[index] as number;
}
