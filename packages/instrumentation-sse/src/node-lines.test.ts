import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NodeLine } from '@sameriver/testkit';
import { nodeBinary } from '@sameriver/testkit';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CLIENT = 'packages/instrumentation-sse/src/client/';
const SERVER = 'packages/instrumentation-sse/src/server/';
const RUNNING = process.versions.node.split('.', 1)[0];
const LINES: readonly NodeLine[] = [22, 24, 26];

// These start the lines themselves.
const OWN_LINES = ['node-lines', 'http-modules', 'http-front'].flatMap((name) => [
  '--exclude',
  `**/${name}.test.ts`,
]);

/** Runs the tests of both ends once more, with the global EventSource switched on. */
function runOn(line: NodeLine): Promise<{ status: number | null; output: string }> {
  // On the line that runs these tests, only the clients have something new to show.
  const files = String(line) === RUNNING ? [`${CLIENT}libraries.test.ts`] : [CLIENT, SERVER];
  const args = ['run', '--root', ROOT, '--config', 'test/vitest.config.ts', ...files];
  const child = spawn(
    nodeBinary(line),
    [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args, ...OWN_LINES],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        NODE_OPTIONS: '--experimental-eventsource --no-warnings',
        NO_COLOR: '1',
        // The report of the run that this one is part of.
        CI_TEST_REPORT: '',
      },
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

test.each(LINES)(
  'Node %i shows us the same of every library',
  { timeout: 300_000 },
  async (line) => {
    const { status, output } = await runOn(line);
    expect(output).toContain('passed');
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  },
);

test('the lines are those of the matrix, this one among them', () => {
  expect(LINES.map(String)).toContain(RUNNING);
});
