import { expect, test } from 'vitest';
import { isBudget, judgeAttempts, noiseOf, readLevels } from './gate.ts';
import type { Finding } from './lib/report.ts';

function ratio(goal: string, median: number, atMost = 1.2): Finding {
  const measured = String(median);
  const limit = `<= ${atMost}`;
  return { goal, what: 'x', measured, limit, met: median <= atMost, median, bounds: { atMost } };
}

const outcomes = (
  attempts: readonly (readonly Finding[])[],
  levels: Readonly<Record<string, number>> = {},
): unknown => judgeAttempts(attempts, levels).map(({ outcome }) => outcome);

test('the best of all attempts counts, with a quarter of slack where it gates', () => {
  expect(outcomes([[ratio('G4', 1.6)], [ratio('G4', 1.3)]])).toEqual(['missed']);
  expect(outcomes([[ratio('G4', 1.19)]])).toEqual(['ok']);
  expect(outcomes([[ratio('G4', 1.51)], [ratio('G4', 1.6)]])).toEqual(['failed']);
});

test('what does not gate may miss its goal by five points', () => {
  expect(outcomes([[ratio('G5', 1.24)]])).toEqual(['missed']);
  expect(outcomes([[ratio('G5', 1.26)]])).toEqual(['failed']);
});

test('noise of the machine widens, and a level that is known is what may not become worse', () => {
  const noisy: Finding = { goal: 'A/A', what: '', measured: '', limit: '', met: true, median: 1.1 };
  expect(noiseOf([noisy])).toBeCloseTo(0.1);
  expect(outcomes([[ratio('G5', 1.34), noisy]])).toEqual(['missed']);
  expect(outcomes([[ratio('G4', 1.9)]], { 'G4 x': 1.6 })).toEqual(['missed']);
  expect(outcomes([[ratio('G4', 2.1)]], { 'G4 x': 1.6 })).toEqual(['failed']);
});

test('a throughput is judged from below', () => {
  const low = (median: number): Finding => ({
    ...ratio('G5', median),
    bounds: { atLeast: 0.95 },
  });
  expect(outcomes([[low(0.96)], [low(0.5)]])).toEqual(['ok']);
  expect(outcomes([[low(0.8)]])).toEqual(['missed']);
  expect(outcomes([[low(0.5)]])).toEqual(['failed']);
});

test('every level is a number, and stands for a goal that is missed', () => {
  for (const level of Object.values(readLevels())) expect(level).toBeGreaterThan(0);
});

test('each CI run judges ratios, bytes and facts of the gated goals, and no time or socket', () => {
  const timed: Finding = { ...ratio('G4', 90), bounds: { atMost: 100, unit: ' ns' } };
  const networked: Finding = { ...ratio('G7', 1), what: 'network, 60 B, reader' };
  expect(['G1', 'G3', 'G4', 'G7', 'G10', 'A/A'].every((goal) => isBudget(ratio(goal, 1)))).toBe(
    true,
  );
  expect(isBudget({ ...ratio('G3', 1), bounds: { atMost: 2, unit: ' B' } })).toBe(true);
  const walked: Finding = { ...ratio('G1', 1), what: 'scanner / newline walk, 60 B' };
  expect([timed, networked, walked, ratio('G5', 1), ratio('peers', 1)].some(isBudget)).toBe(false);
});
