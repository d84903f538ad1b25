import { expect, test } from 'vitest';
import { compileProfile } from '../profile/compile.ts';
import type { CursorSpec } from '../profile/profile.ts';
import { validateProfile } from '../profile/validate.ts';
import { LaneEvidence, NO_CLAIM } from './lane-evidence.ts';

/** Evidence on a stream that held `lastId`, of a client that sends `cursor` or nothing. */
function evidenceOf(cursor: Partial<CursorSpec>, lastId: string, sent?: string): LaneEvidence {
  const profile = compileProfile(
    validateProfile({
      name: 'example',
      match: { transport: 'sse' },
      cursor: { received: ['sse:id'], ...cursor },
    }),
  );
  const held = { epoch: undefined, gen: undefined, untold: undefined, lastId };
  const claim = sent === undefined ? NO_CLAIM : { cursor: sent, epoch: undefined };
  return new LaneEvidence('sse', profile, claim, held);
}

test('R5: an oldest position that cannot be counted from the cursor covers it up to the cursor', () => {
  const oldest = (text: string): string => {
    const evidence = evidenceOf({ codec: 'pair' }, '5-0', '5-0');
    evidence.oldestText = text;
    return evidence.window;
  };
  expect([oldest('4-9'), oldest('5-0'), oldest('5-1')]).toEqual([
    'covers',
    'covers',
    'does_not_cover',
  ]);
});

test('R18: what a sent cursor means is nothing of an id that was only received', () => {
  const next = { codec: 'int', means: 'next' } as const;
  expect(evidenceOf(next, '10', '10').relation('11')?.means).toBe('next');
  expect(evidenceOf(next, '10').relation('11')?.means).toBe('last');
});

test('R13: positions that a server declares dense are dense where they can be counted', () => {
  const dense = (codec: 'int' | 'pair', id: string): boolean | undefined => {
    const evidence = evidenceOf({ codec }, id, id);
    evidence.declaredDense = true;
    return evidence.relation(id)?.dense;
  };
  expect([dense('int', '10'), dense('pair', '5-0')]).toEqual([true, false]);
});
