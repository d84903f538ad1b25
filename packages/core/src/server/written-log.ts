import type { HistoryShare } from '../history-memory.ts';
import type { IssuedIds } from '../origins/issued-ids.ts';

const START = 8;
const MAX_RUNS = 64;
/** A shorter run is as well remembered event by event, and would cost an object every few of them. */
const SHORTEST_RUN = 8;
/** Of one event: the tag of its id, then that of its payload. */
const WORDS = 2;
/** Tags have 31 bits; the one above them marks an event that may not follow the entry before it. */
const SEAM = 0x8000_0000;
const TAG = 0x7fff_ffff;
/** What others are told of a log: enough for a reader who comes back soon, in a kilobyte. */
const RUNS_TOLD = 8;
const TAGS_TOLD = 64;

/** A stretch of consecutive integer ids, written one after the other. */
interface Run {
  readonly first: number;
  readonly index: number;
  readonly length: number;
}

/**
 * The id of an event as a number, NaN or below 0 when it is none. Read from where it lies, because
 * V8 may make an object of a number that is handed on.
 */
export interface Numbered {
  readonly idNumber: number;
}

const NO_NUMBER: Numbered = { idNumber: -1 };

export function numberedBy(id: string | undefined): Numbered {
  return id !== undefined && /^(0|[1-9]\d{0,14})$/.test(id) ? { idNumber: Number(id) } : NO_NUMBER;
}

/**
 * What this process has written on one logical stream, in order: 31-bit tags of the latest events
 * in a ring, and runs of consecutive integers, which reach back much further. Only events with an
 * id of their own are entered: greetings and snapshots differ from one connection to the next.
 */
export class WrittenLog {
  // What every event touches comes first and so shares a cache line or two.
  /** Events entered, the forgotten ones included: the index of the next. */
  length = 0;
  #words: Uint32Array = EMPTY;
  #base = 0;
  #capacity = 0;
  readonly #memory: HistoryShare;
  /** Connections are sent different events: what one got says nothing about another. */
  isFiltered = false;
  /** M1: two transports need not show one event alike, so its id alone tells it from others. */
  idsAlone = false;
  /** The run that the next event may lengthen; every event asks, so it is no object. */
  #runFirst = 0;
  #runIndex = 0;
  #runLength = 0;
  /** Ids mean another event on another connection: a counter for each, say. */
  reusesIds = false;
  /** An id was written again for another event: what follows it here need not follow it elsewhere. */
  isMixed = false;
  /** The part that went over WebSockets: indices of its first and last event. */
  #socketFrom = -1;
  #socketTo = -1;
  /** Connections that are being written this log, and its length when there was none the last time. */
  #followers = 0;
  #abandonedAt = -1;
  /** Runs before the current one, oldest first. */
  #runs: Run[] | undefined;

  constructor(memory: HistoryShare) {
    this.#memory = memory;
  }

  /**
   * @param isSeam the connection was not sent the entry before, so there may be events between the
   *   two that nobody was there to be sent.
   */
  append(idTag: number, payloadTag: number, event: Numbered, isSeam: boolean): void {
    const { length } = this;
    if (length >= this.#capacity && this.#capacity < this.#memory.share) this.#grow();
    const at = this.#at(length);
    this.#words[at] = isSeam ? idTag | SEAM : idTag;
    this.#words[at + 1] = payloadTag;
    const lengthens = !isSeam && this.#runFirst + this.#runLength === event.idNumber;
    if (lengthens && this.#runIndex + this.#runLength === length) this.#runLength++;
    else if (event.idNumber >= 0) this.#startRun(event);
    this.length = length + 1;
  }

  /** Index of the latest event with this id; `undefined` when it is not remembered. */
  find(idTag: number, { idNumber }: Numbered): number | undefined {
    const offset = idNumber - this.#runFirst;
    if (offset >= 0 && offset < this.#runLength) return this.#runIndex + offset;
    for (let index = this.length - 1; this.#remembers(index); index--) {
      if (this.#tagAt(this.#at(index)) === idTag) return index;
    }
    const within = ({ first, length }: Run): boolean =>
      idNumber >= first && idNumber < first + length;
    const run = this.#runs?.findLast(within);
    return run && run.index + idNumber - run.first;
  }

  /**
   * Whether the event at `index` is this one, for a connection that was sent the entry before: then
   * nothing lies between the two. Asked at every write, so it only compares.
   */
  continuesAt(index: number, idTag: number, payloadTag: number): boolean {
    const at = this.#at(index);
    if (this.#tagAt(at) !== idTag) return false;
    if (this.#words[at + 1] !== payloadTag && !this.idsAlone) return false;
    if (this.#words[at] !== idTag) this.#words[at] = idTag;
    return true;
  }

  /** Whether events that nobody was sent may lie right before the entry at `index`. */
  isSeam(index: number): boolean {
    if (this.#remembers(index)) return ((this.#words[this.#at(index)] ?? 0) & SEAM) !== 0;
    return this.#runAround(index) === undefined;
  }

  holdsAt(index: number, idTag: number): boolean {
    return this.#remembers(index) && this.#tagAt(this.#at(index)) === idTag;
  }

  /** A connection has found its place in this log. */
  followed(): void {
    this.#followers++;
  }

  unfollowed(): void {
    this.#followers--;
    if (this.#followers === 0) this.#abandonedAt = this.length;
  }

  /** Whether there may be events after the last of the first `length` entries that nobody was sent. */
  wasAbandonedAt(length: number): boolean {
    return this.#abandonedAt === length;
  }

  /** Whether they may lie anywhere between the entries `from` and `to`. */
  hasSeamWithin(from: number, to: number): boolean {
    for (let index = from + 1; index <= to; index++) {
      const run = this.#remembers(index) ? undefined : this.#runAround(index);
      if (run !== undefined) index = run.index + run.length - 1;
      else if (this.isSeam(index)) return true;
    }
    return false;
  }

  payloadAt(index: number, payloadTag: number): 'same' | 'other' | 'not_remembered' {
    if (!this.#remembers(index)) return 'not_remembered';
    const before = this.#words[this.#at(index) + 1];
    return before === payloadTag || this.idsAlone ? 'same' : 'other';
  }

  /** The event at `index` is sent over a WebSocket. */
  noteSocket(index: number): void {
    if (this.#socketFrom < 0 || index < this.#socketFrom) this.#socketFrom = index;
    if (index > this.#socketTo) this.#socketTo = index;
  }

  wentOverSocket(index: number): boolean {
    return this.#socketFrom >= 0 && index >= this.#socketFrom && index <= this.#socketTo;
  }

  /**
   * What was entered from the entry `from` on, as far as it is remembered.
   *
   * @param asTags Numbers too are told by their tags.
   */
  idsFrom(from: number, asTags: boolean): IssuedIds {
    const current = { first: this.#runFirst, index: this.#runIndex, length: this.#runLength };
    const runs = asTags ? [] : [...(this.#runs ?? []), current];
    const told = runs
      .map((run) => cutBefore(run, from))
      .filter(({ length }) => length > 1)
      .slice(-RUNS_TOLD);
    const tags: number[] = [];
    for (let index = Math.max(from, this.length - TAGS_TOLD); index < this.length; index++) {
      const isTold = told.some((run) => index >= run.index && index < run.index + run.length);
      if (!isTold && this.#remembers(index)) tags.push(this.#tagAt(this.#at(index)));
    }
    return { runs: told.map(({ first, length }) => [first, first + length - 1]), tags };
  }

  /** Forgets the tags and gives their memory back. */
  release(): void {
    if (this.#capacity > 0) this.#giveBack(this.#words, this.#base, this.#capacity);
    this.#words = EMPTY;
    this.#base = 0;
    this.#capacity = 0;
  }

  /** The run in which the entry at `index` follows another. */
  #runAround(index: number): Run | undefined {
    const current = { first: this.#runFirst, index: this.#runIndex, length: this.#runLength };
    const holds = (run: Run): boolean => index > run.index && index < run.index + run.length;
    return holds(current) ? current : this.#runs?.findLast(holds);
  }

  #tagAt(at: number): number {
    return (this.#words[at] ?? 0) & TAG;
  }

  #at(index: number): number {
    return this.#base + WORDS * (index & (this.#capacity - 1));
  }

  #remembers(index: number): boolean {
    return index >= 0 && index < this.length && index >= this.length - this.#capacity;
  }

  #startRun(event: Numbered): void {
    if (this.#runLength >= SHORTEST_RUN) {
      this.#runs ??= [];
      this.#runs.push({ first: this.#runFirst, index: this.#runIndex, length: this.#runLength });
      if (this.#runs.length > MAX_RUNS) this.#runs.shift();
    }
    this.#runFirst = event.idNumber;
    this.#runIndex = this.length;
    this.#runLength = 1;
  }

  #grow(): void {
    const size = this.#capacity;
    const old = this.#words;
    const oldBase = this.#base;
    this.#capacity = Math.max(START, size * 2);
    const { words, base } = this.#memory.pool.take(WORDS * this.#capacity);
    this.#words = words;
    this.#base = base;
    for (let index = Math.max(0, this.length - size); index < this.length; index++) {
      const from = oldBase + WORDS * (index & (size - 1));
      const to = this.#at(index);
      words[to] = old[from] ?? 0;
      words[to + 1] = old[from + 1] ?? 0;
    }
    if (size > 0) this.#giveBack(old, oldBase, size);
  }

  #giveBack(words: Uint32Array, base: number, capacity: number): void {
    this.#memory.pool.giveBack({ words, base }, WORDS * capacity);
  }
}

function cutBefore({ first, index, length }: Run, from: number): Run {
  const cut = Math.max(0, from - index);
  return { first: first + cut, index: index + cut, length: length - cut };
}

const EMPTY: Uint32Array = new Uint32Array(0);
