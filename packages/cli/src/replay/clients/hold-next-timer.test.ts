import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { holdNextTimer } from './hold-next-timer.ts';

test('the next timer of this job is caught, and only that one', () => {
  const original = globalThis.setTimeout;
  const caught: (() => void)[] = [];
  holdNextTimer((callback) => caught.push(callback));
  const callback = () => {};
  const timer = setTimeout(callback, 3000);
  expect(caught).toEqual([callback]);
  expect(timer.hasRef()).toBe(true);
  expect(globalThis.setTimeout).toBe(original);
});

test('nothing is caught once the job is over', async () => {
  const original = globalThis.setTimeout;
  holdNextTimer(() => {
    throw new Error('a timer of somebody else was caught');
  });
  await Promise.resolve();
  expect(globalThis.setTimeout).toBe(original);
  await setImmediate();
});
