// An event store as deployments write it: numbers in order, and a window that forgets the oldest.

export class WindowStore {
  #last;
  #window;
  #kept = [];

  /** @param {{ last: number, window: number }} options The number given last, events to keep. */
  constructor({ last, window }) {
    this.#last = last;
    this.#window = window;
  }

  async storeEvent(streamId, message) {
    const id = String(++this.#last);
    this.#kept.push({ id, streamId, message });
    if (this.#kept.length > this.#window) this.#kept.shift();
    return id;
  }

  // Whoever asks for what is forgotten gets what is left, and is not told.
  async replayEventsAfter(lastEventId, { send }) {
    let stream = '_GET_stream';
    for (const { id, streamId, message } of this.#kept) {
      if (Number(id) <= Number(lastEventId)) continue;
      stream = streamId;
      await send(id, message);
    }
    return stream;
  }
}
