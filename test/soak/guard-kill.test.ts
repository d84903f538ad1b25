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

test('A consumer that is wrong about an effect in doubt is found out', async () => {
  const report = await killConsumer({
    ledger: 'sqlite',
    kind: 'keyed',
    kills: 20,
    seed: 3,
    lies: true,
  });
  expect(report.wrong.join()).toMatch(/was applied 2 times/);
}, 180_000);
