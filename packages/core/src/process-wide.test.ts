import { beforeEach, expect, test, vi } from 'vitest';
import { claim, newOwner } from './claim.ts';
import { processWide } from './process-wide.ts';

// What is imported from here on is another copy of the code.
beforeEach(() => vi.resetModules());

test('every copy of the code gets the value that the first one made', async () => {
  const made = processWide('test.value', () => ({ of: 'the first' }));
  const copy = await import('./process-wide.ts');
  expect(copy.processWide).not.toBe(processWide);
  expect(copy.processWide('test.value', () => ({ of: 'the second' }))).toBe(made);
});

test('a claim of one copy holds against another copy', async () => {
  const copy = await import('./claim.ts');
  const request = {};
  const [one, other] = [newOwner('sse'), copy.newOwner('sse')];
  expect(copy.claim).not.toBe(claim);
  expect(claim(request, one, 0)).toBe(true);
  expect(copy.claim(request, other, 0)).toBe(false);
});
