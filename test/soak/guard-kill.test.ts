import { expect, test } from 'vitest';
import { killConsumer } from './guard/kill-consumer.ts';

const ROWS = [
  ['sqlite', 'keyed'],
  ['sqlite', 'keyless'],
  ['redis', 'keyed'],
  ['redis', 'keyless'],
] as const;

test.each(ROWS)(
  'Killed again and again, with a ledger in %s and %s events: none is applied twice, none lost in silence',
  async (ledger, kind) => {
    const report = await killConsumer({ ledger, kind, kills: 10, seed: 7 });
    expect(report.wrong).toEqual([]);
    expect(report.kills).toBe(10);
  },
  180_000,
);
