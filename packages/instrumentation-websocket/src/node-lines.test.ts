import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NodeLine } from '@sameriver/testkit';
import { nodeBinary } from '@sameriver/testkit';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const HERE = 'packages/instrumentation-websocket/src/';
const RUNNING = process.versions.node.split('.', 1)[0];
const OTHERS = ([22, 24, 26] as const).filter((line) => String(line) !== RUNNING);

// These start the lines themselves.
const OWN_LINES = ['--exclude', '**/node-lines.test.ts', '--exclude', '**/ws-copies.test.ts'];

/** Runs the other tests of this package once more. */
function runOn(line: NodeLine): Promise<{ status: number | null; output: string }> {
  const args = ['run', '--root', ROOT, '--config', 'test/vitest.config.ts', HERE];
  const child = spawn(
    nodeBinary(line),
    [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args, ...OWN_LINES],
    {
      cwd: ROOT,
      // The report is that of the run that this one is part of.
      env: { ...process.env, NODE_OPTIONS: '--no-warnings', NO_COLOR: '1', CI_TEST_REPORT: '' },
    },
  );
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((resolve) => {
    child.on('close', (status) => resolve({ status, output }));
  });
}

test.each(OTHERS)(
  'Node %i shows us the same of every library',
  { timeout: 300_000 },
  async (line) => {
    const { status, output } = await runOn(line);
    expect(output).toContain('passed');
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  },
);

test('the lines are those of the matrix, without the one that runs', () => {
  expect(OTHERS).toHaveLength(2);
});
