import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Table } from './word-pool.ts';
import { WordPool } from './word-pool.ts';

interface Holder {
  readonly table: Table;
  readonly size: number;
  readonly mark: number;
}

function isFilledWith({ table: { words, base }, size }: Holder, value: number): boolean {
  return words.subarray(base, base + size).every((word) => word === value);
}

describe('WordPool', () => {
  it('hands out tables of zeros that nobody else writes to, in any order of taking and giving', () => {
    const step = fc.record({ size: fc.constantFrom(16, 40, 640, 5000), gives: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const pool = new WordPool();
        const held: Holder[] = [];
        for (const [n, { size, gives }] of steps.entries()) {
          const holder = { table: pool.take(size), size, mark: n + 1 };
          expect(isFilledWith(holder, 0)).toBe(true);
          const { words, base } = holder.table;
          words.fill(holder.mark, base, base + size);
          held.push(holder);
          const given = held.splice(gives, 1)[0];
          if (given !== undefined) pool.giveBack(given.table, given.size);
          for (const other of held) expect(isFilledWith(other, other.mark)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('keeps small tables in one array and takes a table that was given back before a fresh one', () => {
    const pool = new WordPool();
    const first = pool.take(40);
    expect(pool.take(40).words).toBe(first.words);
    pool.giveBack(first, 40);
    expect(pool.take(40)).toEqual(first);
  });

  it('lets an array go once all that lay in it was given back', () => {
    const pool = new WordPool();
    const all = Array.from({ length: 20 }, () => pool.take(2000));
    for (const table of all) pool.giveBack(table, 2000);
    const arrays = new Set(all.map(({ words }) => words));
    const again = Array.from({ length: 8 }, () => pool.take(2000));
    expect(arrays.size).toBe(3);
    expect(again.filter(({ words }) => arrays.has(words))).toHaveLength(8);
    expect(pool.take(2000).words).not.toBe(all[0]?.words);
  });
});
