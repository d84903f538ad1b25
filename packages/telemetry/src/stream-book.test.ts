import { expect, test } from 'vitest';
import { connection } from '../test/harness.ts';
import { createStreamBook } from './stream-book.ts';

test('a connection waits or is open, never both', () => {
  const book = createStreamBook();
  const one = connection();
  book.wait(one);
  expect(book.open.size).toBe(0);
  book.up(one);
  const seen: unknown[] = [];
  book.empty((each) => seen.push(each));
  expect(seen).toEqual([one]);
  expect(book.open.size).toBe(0);
});

test('one sweep is bounded, and the next goes on', () => {
  const book = createStreamBook();
  for (let i = 0; i < 20; i += 1) book.wait(connection());
  const forgotten: unknown[] = [];
  const sweep = () => book.sweep(0, (each) => forgotten.push(each));
  sweep();
  expect(forgotten).toHaveLength(8);
  sweep();
  sweep();
  expect(forgotten).toHaveLength(20);
});
