import type { HeaderLookup } from '@sameriver/core';

const EVENT_STREAM = /\r\ncontent-type:[ \t]*text\/event-stream[ \t]*[;,\r]/i;

interface WrittenHead {
  readonly text: string;
  readonly lookup: HeaderLookup;
}

/**
 * Reads heads as they go to the wire. Nothing else knows all of their names: `getHeader` does not see
 * what was given to `writeHead`, and the arguments do not show what was set before.
 *
 * In a storm most heads are equal, as the date in them has seconds: the last one is remembered.
 */
export class WrittenHeads {
  #last: WrittenHead | undefined;

  isEventStream(head: string): boolean {
    return EVENT_STREAM.test(head);
  }

  /** @returns The values of a lower-case name, joined by commas. */
  lookup(head: string): HeaderLookup {
    if (this.#last?.text !== head) this.#last = { text: head, lookup: lookupIn(head) };
    return this.#last.lookup;
  }
}

function lookupIn(head: string): HeaderLookup {
  const fields = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return (name) => fields.get(name);
}
