/** One event that was stored, and the one stored after it on the same stream. */
export interface JournalEntry {
  readonly id: string;
  readonly stream: string;
  readonly isPriming: boolean;
  next: JournalEntry | undefined;
}

/** Which events were stored, in order: ids and nothing of the messages. Forgets the oldest. */
export class Journal {
  readonly #limit: number;
  readonly #entries: Map<string, JournalEntry> = new Map();
  readonly #last: Map<string, JournalEntry> = new Map();
  #isWhole = true;

  /** @param limit Events to remember, over all streams. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Nothing was forgotten: an id that is not here was never stored. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  note(stream: string, id: string, isPriming: boolean): void {
    const entry: JournalEntry = { id, stream, isPriming, next: undefined };
    const last = this.#last.get(stream);
    if (last !== undefined) last.next = entry;
    this.#last.set(stream, entry);
    this.#entries.set(id, entry);
    if (this.#entries.size > this.#limit) this.#forgetOldest();
  }

  find(id: string): JournalEntry | undefined {
    return this.#entries.get(id);
  }

  /** The last event of the stream of `entry`. */
  lastOf({ stream }: JournalEntry): JournalEntry | undefined {
    return this.#last.get(stream);
  }

  #forgetOldest(): void {
    const [oldest] = this.#entries.values();
    if (oldest === undefined) return;
    this.#isWhole = false;
    this.#entries.delete(oldest.id);
    if (this.#last.get(oldest.stream) === oldest) this.#last.delete(oldest.stream);
  }
}

/** The next message after an event: a replay leaves priming events out. */
export function messageAfter(entry: JournalEntry): JournalEntry | undefined {
  let next = entry.next;
  while (next?.isPriming) next = next.next;
  return next;
}
