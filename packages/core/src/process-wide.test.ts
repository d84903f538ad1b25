import { expect, test } from 'vitest';
import { processWide } from './process-wide.ts';

test('every copy of the code gets the value that the first one made', async () => {
  const made = processWide('test.value', () => ({ of: 'the first' }));
  // A module that is imported by another URL is another copy of it.
  const copy: typeof import('./process-wide.ts') = await import('./process-wide.ts?copy');
  expect(copy.processWide).not.toBe(processWide);
  expect(copy.processWide('test.value', () => ({ of: 'the second' }))).toBe(made);
});

test('a claim of one copy holds against another copy', async () => {
  const { claim, newOwner } = await import('./claim.ts');
  const copy: typeof import('./claim.ts') = await import('./claim.ts?copy');
  const request = {};
  const [one, other] = [newOwner('sse'), copy.newOwner('sse')];
  expect(copy.claim).not.toBe(claim);
  expect(claim(request, one, 0)).toBe(true);
  expect(copy.claim(request, other, 0)).toBe(false);
});
