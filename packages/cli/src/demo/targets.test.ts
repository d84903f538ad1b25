import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeTargets } from './targets.ts';

test('the file says to Prometheus which ports to scrape, and no draft of it stays behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'targets-'));
  const file = join(folder, 'targets.json');
  writeTargets(file, [{ service: 'old', metrics: 'http://127.0.0.1:1/metrics' }]);
  writeTargets(file, [{ service: 'feed-server', metrics: 'http://127.0.0.1:9464/metrics' }]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([
    { targets: ['127.0.0.1:9464'], labels: { job: 'sameriver-demo', service: 'feed-server' } },
  ]);
  expect(readdirSync(folder)).toEqual(['targets.json']);
  rmSync(folder, { recursive: true });
});
