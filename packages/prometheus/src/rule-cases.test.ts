import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DERIVED_TESTS } from '../test/derived.ts';
import { LIMIT_TESTS } from '../test/limits.ts';
import { FOLDER, PROMTOOLS, runRuleTests } from '../test/promtool.ts';
import { SUM_TESTS, SUMS } from '../test/sums.ts';

const CASES = [
  ['sums of increases: which series, how far back, what is new', SUM_TESTS],
  ['shares, averages and the replay window', DERIVED_TESTS],
  ['every limit of every alert, from both sides', LIMIT_TESTS],
] as const;

describe.each(PROMTOOLS)('the rules on $name', ({ find }) => {
  test.for(CASES)('%s', { timeout: 240_000 }, async ([, cases], { skip }) => {
    const found = await find();
    if ('absent' in found) return skip(found.absent);
    await runRuleTests(found.path, cases);
  });
});

test('every sum that is recorded is tested', () => {
  const { groups } = parse(readFileSync(`${FOLDER}rules/recording.yaml`, 'utf8')) as {
    readonly groups: ReadonlyArray<{
      readonly rules: ReadonlyArray<{
        readonly record: string;
        readonly expr: string;
        readonly labels?: { readonly event_stream_role?: string };
      }>;
    }>;
  };
  const recorded = groups
    .flatMap(({ rules }) => rules)
    .filter(({ expr }) => expr.startsWith('sum by'))
    .map(({ record, labels }) => [record, labels?.event_stream_role]);
  expect(SUMS.map(({ record, role }) => [record, role]).sort()).toEqual(recorded.sort());
});
