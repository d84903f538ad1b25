import type {
  EventStore,
  FoundCursor,
  ReplayOptions,
} from '@sameriver/instrumentation-mcp/continuity';

interface Stored {
  readonly position: number;
  readonly stream: string;
  readonly message: object;
}

/**
 * The last events of a process, over all of its streams. It lives and dies with the process, and so
 * does its epoch: `withContinuity(store, { epoch: 'in-memory', find: (id) => store.find(id) })`.
 */
export class MemoryEventStore implements EventStore {
  readonly #limit: number;
  readonly #events: Stored[] = [];
  #position = 0;

  /** @param limit Events to keep. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  async storeEvent(stream: string, message: object): Promise<string> {
    this.#position += 1;
    this.#events.push({ position: this.#position, stream, message });
    if (this.#events.length > this.#limit) this.#events.shift();
    return String(this.#position);
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#events.find(({ position }) => String(position) === eventId)?.stream;
  }

  async replayEventsAfter(eventId: string, { send }: ReplayOptions): Promise<string> {
    for (const { position, message } of this.#after(eventId)) await send(String(position), message);
    return (await this.getStreamIdForEventId(eventId)) ?? '';
  }

  find(eventId: string): FoundCursor {
    const at = Number(eventId);
    const isIssued = /^[1-9]\d*$/.test(eventId) && at <= this.#position;
    if (!isIssued) return { kind: 'unknown' };
    // The stream of an event that is gone is gone with it: what followed on it cannot be told.
    if (at < (this.#events[0]?.position ?? 0)) return { kind: 'evicted' };
    const [next] = this.#after(eventId).filter(({ message }) => Object.keys(message).length > 0);
    const newest = this.#after(eventId).at(-1)?.position ?? at;
    return { kind: 'kept', next: next && String(next.position), newest: String(newest) };
  }

  getReplayWindow(): { usage: number; limit: number } {
    return { usage: this.#events.length, limit: this.#limit };
  }

  #after(eventId: string): Stored[] {
    const at = this.#events.findIndex(({ position }) => String(position) === eventId);
    const stream = this.#events[at]?.stream;
    return at < 0 ? [] : this.#events.slice(at + 1).filter((event) => event.stream === stream);
  }
}
