import type { CompiledProfile } from '../profile/compile.ts';
import { LogicalStream } from './logical-stream.ts';

/**
 * Streams under one name. Thousands may stand there, when a client asks one URL again and again, so
 * what is looked for among them is kept apart.
 */
interface Shelf {
  readonly all: Set<LogicalStream>;
  /** With a connection that is over; the one that lost its connection last comes last. */
  readonly left: Set<LogicalStream>;
  /** Whose profile is known. */
  readonly known: Set<LogicalStream>;
}

const NONE: readonly LogicalStream[] = [];

/** Finds streams by the tag of a name. Mostly one stands under it, and then without a shelf. */
export class StreamIndex {
  readonly #byName: Map<number, LogicalStream | Shelf> = new Map();

  all(name: number): Iterable<LogicalStream> {
    const found = this.#byName.get(name);
    if (found instanceof LogicalStream) return [found];
    return found?.all ?? NONE;
  }

  /** Those with a connection that is over. */
  left(name: number): Iterable<LogicalStream> {
    const found = this.#byName.get(name);
    if (found instanceof LogicalStream) return found.wasLeft ? [found] : NONE;
    return found?.left ?? NONE;
  }

  profile(name: number): CompiledProfile | undefined {
    const found = this.#byName.get(name);
    if (found instanceof LogicalStream) return found.profile;
    if (found === undefined) return undefined;
    const [first] = found.known;
    return first?.profile;
  }

  *everything(): Iterable<LogicalStream> {
    for (const name of this.#byName.keys()) yield* this.all(name);
  }

  enter(name: number, stream: LogicalStream): void {
    const found = this.#byName.get(name);
    if (found === undefined) this.#byName.set(name, stream);
    else if (!(found instanceof LogicalStream)) put(found, stream);
    else if (found !== stream) {
      const shelf: Shelf = { all: new Set(), left: new Set(), known: new Set() };
      put(shelf, found);
      put(shelf, stream);
      this.#byName.set(name, shelf);
    }
  }

  /** The stream has lost a connection, or its profile has come to be known. */
  changed(name: number, stream: LogicalStream): void {
    const found = this.#byName.get(name);
    if (found === undefined || found instanceof LogicalStream) return;
    found.left.delete(stream);
    put(found, stream);
  }

  drop(name: number, stream: LogicalStream): void {
    const found = this.#byName.get(name);
    if (found === stream) this.#byName.delete(name);
    if (found === undefined || found instanceof LogicalStream) return;
    for (const streams of [found.all, found.left, found.known]) streams.delete(stream);
    const [only, another] = found.all;
    if (only !== undefined && another === undefined) this.#byName.set(name, only);
  }
}

function put(shelf: Shelf, stream: LogicalStream): void {
  shelf.all.add(stream);
  if (stream.wasLeft) shelf.left.add(stream);
  if (stream.profile !== undefined) shelf.known.add(stream);
}
