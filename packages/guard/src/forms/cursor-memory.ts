import type { Position } from '../ledger/ledger.ts';

/** One stream of a client, as far as its events were handed over. */
export interface Line {
  readonly place: string;
  readonly name: string;
  held: Position | undefined;
}

/** Streams to remember; the longest untouched are forgotten first. */
const LINES = 1_024;

/**
 * Where the streams of a client were left. A client may forget its cursor: SDKs of MCP do when a
 * stream breaks before its first id, and would take whatever comes next for a continuation.
 */
export class CursorMemory {
  readonly #lines = new Map<string, Line>();
  /** A ledger may outlive this memory: what it knows of an earlier one is another stream. */
  readonly #own: string = crypto.randomUUID();
  #opened = 0;

  /** The stream that a request continues, or a new one. @param place Where its streams are asked for. */
  lineFor(place: string, method: string, cursor: string | undefined): Line {
    if (cursor === undefined) return this.#enter(place, method === 'GET' ? 'GET' : this.#number());
    for (const line of this.#lines.values()) {
      if (line.place === place && line.held?.cursor === cursor) return this.#touch(line);
    }
    const line = this.#enter(place, this.#number());
    line.held = { stream: line.name, cursor, epoch: undefined, run: line.name };
    return line;
  }

  /** The client ended the stream itself: the next one of this name begins anew. */
  close(line: Line): void {
    this.#lines.delete(line.name);
  }

  #number(): string {
    this.#opened += 1;
    return `#${this.#opened}`;
  }

  #enter(place: string, which: string): Line {
    const name = `${which} ${place} ${this.#own}`;
    return this.#touch(this.#lines.get(name) ?? { place, name, held: undefined });
  }

  #touch(line: Line): Line {
    this.#lines.delete(line.name);
    this.#lines.set(line.name, line);
    for (const oldest of this.#lines.keys()) {
      if (this.#lines.size <= LINES) break;
      this.#lines.delete(oldest);
    }
    return line;
  }
}
