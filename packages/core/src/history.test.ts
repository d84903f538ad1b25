import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  SEEN_ID_REUSED_HERE,
  SEEN_OTHER_PAYLOAD,
  SEEN_PAYLOAD,
  SEEN_PAYLOAD_HERE,
  SEEN_SAME,
  SeenEvents,
} from './history.ts';
import { WordPool } from './word-pool.ts';

type Entry = readonly [id: number, payload: number, mark: number];

/** The same questions asked of a plain list of the latest `limit` events. */
function plainly(past: readonly Entry[], [id, payload, mark]: Entry): number {
  let seen = 0;
  for (const [otherId, otherPayload, otherMark] of past) {
    if (id !== 0 && otherId === id) {
      if (otherPayload === payload) seen |= SEEN_SAME;
      else seen |= SEEN_OTHER_PAYLOAD | (otherMark === mark ? SEEN_ID_REUSED_HERE : 0);
    }
    if (otherPayload === payload) {
      seen |= SEEN_PAYLOAD | (otherMark === mark ? SEEN_PAYLOAD_HERE : 0);
    }
  }
  return seen;
}

const entry = fc.tuple(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 1, max: 60 }),
  fc.integer({ min: 0, max: 3 }),
);

describe('SeenEvents', () => {
  const pool = new WordPool();

  it('G4: answers as a plain list of its latest events would, however it grew', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 200 }),
        fc.constantFrom(8, 16, 32),
        (entries, limit) => {
          const history = new SeenEvents({ share: limit, pool });
          entries.forEach((item, n) => {
            const past = entries.slice(Math.max(0, n - limit), n);
            expect(history.observe(...item)).toBe(plainly(past, item));
          });
          expect(history.exhausted).toBe(entries.length > limit);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('compares ids alone where payloads are not hashed', () => {
    const history = new SeenEvents({ share: 8, pool });
    history.observe(5, 0, 0);
    expect(history.observe(5, 0, 1)).toBe(SEEN_SAME);
    expect(history.observe(6, 0, 1)).toBe(0);
  });
});
