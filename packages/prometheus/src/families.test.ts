import { METRICS } from '@sameriver/telemetry';
import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createFamily } from './families.ts';

test('a family of ours that fails when it is read leaves the page of the application as it is', async () => {
  const registry = new Registry();
  const own = new Counter({ name: 'jobs_total', help: 'Jobs.', registers: [registry] });
  own.inc(3);
  const [metric] = METRICS;
  if (metric === undefined) throw new Error('There is no metric.');
  const family = createFamily(metric, () => {
    throw new Error('told to fail');
  });
  registry.registerMetric(family as never);
  expect(await registry.metrics()).toContain('jobs_total 3');
});
