/** Words of one slab. Larger tables get an array of their own, whose overhead they hardly feel. */
const SLAB = 16_384;
const LARGEST = SLAB / 8;

/** A table of words that begins at `base` of `words`. */
export interface Table {
  readonly words: Uint32Array;
  readonly base: number;
}

interface Slab {
  readonly words: Uint32Array;
  /** Words handed out at least once. */
  filled: number;
  /** Words handed out now. */
  used: number;
}

/**
 * Memory for many small tables in few arrays. A typed array of its own costs a table 200 bytes of
 * heap, and two cache misses at each event of one stream among a thousand.
 */
export class WordPool {
  readonly #slabs: Map<Uint32Array, Slab> = new Map();
  /** Tables given back, by their size. */
  readonly #free: Map<number, Table[]> = new Map();
  #filling: Slab | undefined;

  /** @returns a table of `size` words, all of them 0. */
  take(size: number): Table {
    if (size > LARGEST) return { words: new Uint32Array(size), base: 0 };
    const table = this.#free.get(size)?.pop();
    const slab = table && this.#slabs.get(table.words);
    if (table === undefined || slab === undefined) return this.#fresh(size);
    slab.used += size;
    return table;
  }

  /** @param table What `take` returned for `size`; it must not be used any more. */
  giveBack(table: Table, size: number): void {
    const slab = this.#slabs.get(table.words);
    if (slab === undefined) return;
    table.words.fill(0, table.base, table.base + size);
    slab.used -= size;
    const free = this.#free.get(size) ?? [];
    free.push(table);
    this.#free.set(size, free);
    if (slab.used === 0 && slab !== this.#filling) this.#drop(slab);
  }

  #fresh(size: number): Table {
    let slab = this.#filling;
    if (slab === undefined || slab.filled + size > SLAB) {
      slab = { words: new Uint32Array(SLAB), filled: 0, used: 0 };
      this.#filling = slab;
      this.#slabs.set(slab.words, slab);
    }
    const table = { words: slab.words, base: slab.filled };
    slab.filled += size;
    slab.used += size;
    return table;
  }

  #drop({ words }: Slab): void {
    this.#slabs.delete(words);
    for (const [size, tables] of this.#free) {
      this.#free.set(
        size,
        tables.filter((table) => table.words !== words),
      );
    }
  }
}
