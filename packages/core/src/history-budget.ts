const EVENTS = 8192;
const LEAST_SHARE = 64;
const LARGEST_SHARE = 16_384;

/**
 * How many events one stream may remember: a common budget divided among the open connections.
 * Divided when one opens or closes, because a full history asks at every event.
 */
export class HistoryBudget {
  /** A power of two, as histories are indexed by masks: never fewer than 64, nor above 16,384. */
  share = 0;
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
    this.share = Math.min(LARGEST_SHARE, 2 ** Math.floor(Math.log2(share)));
  }
}
