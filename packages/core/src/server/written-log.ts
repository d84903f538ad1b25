const START = 8;
const MAX_RUNS = 64;

/** A stretch of consecutive integer ids, written one after the other. */
interface Run {
  readonly first: number;
  readonly index: number;
  length: number;
}

/**
 * What this process has written on one logical stream, in order: 31-bit tags of the latest events
 * in a ring, and runs of consecutive integers, which reach back much further. Only events with an
 * id of their own are entered: greetings and snapshots differ from one connection to the next.
 */
export class WrittenLog {
  /** Events entered, the forgotten ones included: the index of the next. */
  length = 0;
  /** Ids mean another event on another connection: a counter for each, say. */
  reusesIds = false;
  /** Connections are sent different events: what one got says nothing about another. */
  isFiltered = false;
  #ids: Uint32Array = EMPTY;
  #payloads: Uint32Array = EMPTY;
  readonly #runs: Run[] = [];
  readonly #budget: { readonly share: number };

  /** @param budget Its share, a power of two: the events to remember at the moment. */
  constructor(budget: { readonly share: number }) {
    this.#budget = budget;
  }

  append(idTag: number, idNumber: number, payloadTag: number): void {
    if (this.length >= this.#ids.length && this.#ids.length < this.#budget.share) this.#grow();
    const slot = this.length & (this.#ids.length - 1);
    this.#ids[slot] = idTag;
    this.#payloads[slot] = payloadTag;
    if (idNumber >= 0) this.#extendRun(idNumber);
    this.length++;
  }

  /** Index of the latest event with this id; `undefined` when it is not remembered. */
  find(idTag: number, idNumber: number): number | undefined {
    for (let i = this.#runs.length - 1; i >= 0; i--) {
      const run = this.#runs[i];
      if (run === undefined) break;
      const offset = idNumber - run.first;
      if (offset >= 0 && offset < run.length) return run.index + offset;
    }
    for (let index = this.length - 1; this.#remembers(index); index--) {
      if (this.#ids[index & (this.#ids.length - 1)] === idTag) return index;
    }
    return undefined;
  }

  /** Whether the event at `index` is this one; asked at every write, so it only compares. */
  isAt(index: number, idTag: number, payloadTag: number): boolean {
    const slot = index & (this.#ids.length - 1);
    return this.#ids[slot] === idTag && this.#payloads[slot] === payloadTag;
  }

  payloadAt(index: number, payloadTag: number): 'same' | 'other' | 'not_remembered' {
    if (!this.#remembers(index)) return 'not_remembered';
    const before = this.#payloads[index & (this.#payloads.length - 1)];
    return before === payloadTag ? 'same' : 'other';
  }

  #remembers(index: number): boolean {
    return index >= 0 && index < this.length && index >= this.length - this.#ids.length;
  }

  #extendRun(idNumber: number): void {
    const last = this.#runs.at(-1);
    const follows = last !== undefined && last.first + last.length === idNumber;
    if (follows && last.index + last.length === this.length) last.length++;
    else {
      this.#runs.push({ first: idNumber, index: this.length, length: 1 });
      if (this.#runs.length > MAX_RUNS) this.#runs.shift();
    }
  }

  #grow(): void {
    const { length } = this.#ids;
    const capacity = Math.max(START, length * 2);
    const ids = new Uint32Array(capacity);
    const payloads = new Uint32Array(capacity);
    for (let index = Math.max(0, this.length - length); index < this.length; index++) {
      ids[index & (capacity - 1)] = this.#ids[index & (length - 1)] ?? 0;
      payloads[index & (capacity - 1)] = this.#payloads[index & (length - 1)] ?? 0;
    }
    this.#ids = ids;
    this.#payloads = payloads;
  }
}

const EMPTY: Uint32Array = new Uint32Array(0);
