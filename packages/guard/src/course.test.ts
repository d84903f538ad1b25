import { expect, test } from 'vitest';
import type { Course, Standing } from './course.ts';
import { courseFor } from './course.ts';

const TABLE: ReadonlyArray<readonly [Standing, withKey: Course, withoutKey: Course]> = [
  ['first', 'apply', 'apply'],
  ['resumed', 'apply', 'apply'],
  ['reoriginated', 'reconcile', 'refuse'],
  ['unverifiable', 'refuse', 'refuse'],
  ['refused', 'refuse', 'refuse'],
];

test.each(TABLE)('An event of a stream that is %s: %s with a key, %s without one', (...row) => {
  const [standing, withKey, withoutKey] = row;
  expect(courseFor(standing, true)).toBe(withKey);
  expect(courseFor(standing, false)).toBe(withoutKey);
});
