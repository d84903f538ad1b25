import { WordPool } from './word-pool.ts';

const EVENTS = 8192;
const LEAST_SHARE = 64;
const LARGEST_SHARE = 16_384;

/** What a history takes its memory from, and how much of it. */
export interface HistoryShare {
  /** Events. A power of two, as histories are indexed by masks: 64 to 16,384. */
  readonly share: number;
  readonly pool: WordPool;
}

/**
 * Where the histories of all streams lie, and how many events each may hold: a common budget divided
 * among the open connections. Divided when one opens or closes, because a full history asks at every
 * event.
 */
export class HistoryMemory implements HistoryShare {
  share = 0;
  readonly pool: WordPool = new WordPool();
  readonly #events: number;
  #connections = 0;

  /** @param events for all streams together. */
  constructor(events: number = EVENTS) {
    this.#events = events;
    this.#divide();
  }

  opened(): void {
    this.#connections++;
    this.#divide();
  }

  closed(): void {
    this.#connections--;
    this.#divide();
  }

  #divide(): void {
    const share = Math.max(LEAST_SHARE, this.#events / Math.max(1, this.#connections));
    this.share = Math.min(LARGEST_SHARE, highestBit(share));
  }
}

/** The largest power of two that is no larger; without the logarithm, as storms ask twice a time. */
function highestBit(value: number): number {
  return (2 ** 31) >>> Math.clz32(value);
}
