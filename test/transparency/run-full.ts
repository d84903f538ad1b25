import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const args = ['run', '--root', root, '--config', 'test/vitest.config.ts', 'test/transparency'];

const { status } = spawnSync(process.execPath, [vitest, ...args, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, SAMERIVER_MATRIX: 'full' },
});
process.exitCode = status ?? 1;
