import type { ExpectedReconnect, JudgedReconnect } from '@sameriver/core';
import { describe, expect, test } from 'vitest';
import { differences, expectationFor } from './expectation.ts';

const lost: JudgedReconnect = {
  connection: 1,
  classification: 'reoriginated',
  reason: 'window_exceeded',
  missed: 4,
  duplicates: 0,
};

const wanted = (change: Partial<ExpectedReconnect> = {}): ExpectedReconnect => ({
  connection: 1,
  classification: 'reoriginated',
  missed: 4,
  duplicates: 0,
  ...change,
});

test('an expectation without a reason accepts any reason', () => {
  expect(differences([wanted()], [lost])).toEqual([]);
});

describe('each member of an expectation counts', () => {
  const got = 'got reoriginated (window_exceeded), missed 4, duplicates 0';
  test.each<[Partial<ExpectedReconnect>, string]>([
    [
      { classification: 'resumed' },
      `connection 1: expected resumed, missed 4, duplicates 0, ${got}`,
    ],
    [
      { reason: 'epoch_changed' },
      `connection 1: expected reoriginated (epoch_changed), missed 4, duplicates 0, ${got}`,
    ],
    [
      { missed: 'unknown' },
      `connection 1: expected reoriginated, missed unknown, duplicates 0, ${got}`,
    ],
    [{ duplicates: 2 }, `connection 1: expected reoriginated, missed 4, duplicates 2, ${got}`],
  ])('%j', (change, sentence) => {
    expect(differences([wanted(change)], [lost])).toEqual([sentence]);
  });
});

test('a connection that is not listed must have no verdict', () => {
  expect(differences([], [lost])).toEqual([
    'connection 1: expected no verdict, got reoriginated (window_exceeded), missed 4, duplicates 0',
  ]);
});

test('a verdict that does not come is a difference', () => {
  expect(differences([wanted({ connection: 2 })], [])).toEqual([
    'connection 2: expected reoriginated, missed 4, duplicates 0, got no verdict',
  ]);
});

describe('a connection that carries several streams (R19)', () => {
  const a: JudgedReconnect = { ...lost, stream: 'a', duplicates: 1 };
  const b: JudgedReconnect = { ...lost, stream: 'b', classification: 'resumed', duplicates: 2 };

  test('an entry that names its stream speaks for that stream alone', () => {
    const entries = [wanted({ stream: 'a', duplicates: 1 })];
    expect(differences(entries, [a])).toEqual([]);
    expect(differences(entries, [a, b])).toEqual([
      'connection 1 stream b: expected no verdict, got resumed (window_exceeded), missed 4, duplicates 2',
    ]);
    expect(expectationFor(entries, b)).toBeUndefined();
  });

  test('an entry without a stream speaks for all, and their duplicates add up', () => {
    expect(differences([wanted({ duplicates: 3 })], [a, b])).toEqual([]);
    expect(differences([wanted({ duplicates: 1 })], [a, b])).toHaveLength(1);
  });

  test('one unknown number makes the sum unknown', () => {
    const unknown = { ...b, duplicates: 'unknown' as const };
    expect(differences([wanted({ duplicates: 'unknown' })], [a, unknown])).toEqual([]);
  });
});
