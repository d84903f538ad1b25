import type { Numbered, WrittenLog } from './written-log.ts';

/**
 * Follows one connection along the log of its stream: which of its events were written before, and
 * how many a resumed reader was sent again. Comparing with the entry that comes next keeps a
 * broadcast to many readers at two array reads an event.
 */
export class ReplayFollower {
  readonly #log: WrittenLog;
  /** Index of the log entry that comes next here; −1 until the first event is placed. */
  #next = -1;
  /**
   * Where the log ended when the reader came: what is written from there on is new to everybody,
   * also where others of a broadcast were sent it a moment before. −1 when nothing is replayed.
   */
  #replayEnd: number;
  /** Events written again before the first new one. */
  replayed = 0;
  /** Of these, the ones that the reader had acknowledged. */
  repeated = 0;
  /** Index of the event that a perfect replay begins with; `undefined` when nobody can tell. */
  wanted: number | undefined;

  /** @param resumes the request carries a cursor. */
  constructor(log: WrittenLog, resumes: boolean) {
    this.#log = log;
    this.#replayEnd = resumes ? log.length : -1;
  }

  /** A cursor came later than the connection: the replay begins here. */
  resume(wanted: number | undefined): void {
    if (this.#next >= 0) this.#log.unfollowed();
    this.#next = -1;
    this.#replayEnd = this.#log.length;
    this.wanted = wanted;
  }

  /** @returns the index at which the event was written before; `undefined` when it is new. */
  follow(idTag: number, payloadTag: number, event: Numbered): number | undefined {
    if (this.#next < 0) this.#log.followed();
    const index = this.#place(idTag, payloadTag, event);
    if (index === undefined || index >= this.#replayEnd) this.#replayEnd = -1;
    else {
      this.replayed++;
      if (this.wanted !== undefined && index < this.wanted && this.#isSame(index, payloadTag)) {
        this.repeated++;
      }
    }
    return index;
  }

  /**
   * The reader is gone. What others were sent while it was here, and it was not, makes the log one
   * of many; a single event may have been on its way when the connection closed.
   *
   * @param isLeft the reader went elsewhere before that, so that others were sent what it was not.
   */
  close(isLeft: boolean): void {
    if (this.#next < 0) return;
    this.#log.unfollowed();
    if (!isLeft && this.#log.length - this.#next > 1) this.#log.isFiltered = true;
  }

  /** G3: an id that comes again with another payload is reuse, no duplicate. */
  #isSame(index: number, payloadTag: number): boolean {
    return payloadTag === 0 || this.#log.payloadAt(index, payloadTag) !== 'other';
  }

  #place(idTag: number, payloadTag: number, event: Numbered): number | undefined {
    const log = this.#log;
    const expected = this.#next;
    if (expected >= 0 && expected < log.length && log.continuesAt(expected, idTag, payloadTag)) {
      this.#next++;
      return expected;
    }
    if (expected >= 0 && log.isFiltered) return undefined;
    if (expected === log.length || log.length === 0) {
      return this.#append(idTag, payloadTag, event, false);
    }
    const found = log.find(idTag, event);
    // Not what follows here, and not the beginning of a replay: others were sent what this was not.
    if (expected >= 0) log.isFiltered = true;
    if (found === undefined) return this.#append(idTag, payloadTag, event, true);
    if (payloadTag !== 0 && log.payloadAt(found, payloadTag) === 'other') log.isMixed = true;
    this.#next = found + 1;
    return found;
  }

  #append(idTag: number, payloadTag: number, event: Numbered, isSeam: boolean): undefined {
    this.#log.append(idTag, payloadTag, event, isSeam);
    this.#next = this.#log.length;
  }
}
