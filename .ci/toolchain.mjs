// Runs a root task under the pinned Node and pnpm, whatever Node (>= 20) npm itself runs on.
// Plain JavaScript without dependencies: it is the one file that must work before any install.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NODE = '24.21.0';
const PNPM = '12.21.0';
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GUARD = 'CI_TOOLCHAIN';

const INSTALL = process.env.CI ? ['install', '--frozen-lockfile'] : ['install'];
const CHECKS = ['check:lint', 'check:types', 'check:packages', 'check:unused', 'check:budgets'];

const TASKS = {
  install: () => install(),
  build: () => ready(),
  test: (args) => ready() && script('test:inner', args),
  demo: (args) => ready() && script('demo:inner', args),
  bench: (args) => ready() && script('bench:inner', args),
  matrix: (args) => ready() && script('matrix:inner', args),
  soak: (args) => ready() && script('soak:inner', args),
  check: () => ready() && check(),
};

function run(command, args, stdio = 'inherit') {
  const { status, error, stdout } = spawnSync(command, args, {
    cwd: ROOT,
    stdio,
    encoding: 'utf8',
    // npm and pnpm are .cmd files on Windows, which only a shell can start.
    shell: process.platform === 'win32',
  });
  if (error && stdio === 'inherit') console.error(`${command}: ${error.message}`);
  return { ok: status === 0, status: status ?? 1, stdout: stdout ?? '' };
}

function script(name, args = []) {
  return run('pnpm', ['run', name, ...args]).ok;
}

function install() {
  return run('pnpm', INSTALL).ok;
}

function ready() {
  return install() && script('build:inner');
}

// Every check runs even after a failure, so that one run shows everything that is wrong.
function check() {
  const failed = CHECKS.filter((name) => !script(name));
  if (process.env.CI_CHECK_REPORT) {
    writeFileSync(
      process.env.CI_CHECK_REPORT,
      JSON.stringify({ passed: CHECKS.length - failed.length, failed: failed.length }),
    );
  }
  console.log(failed.length === 0 ? 'check: all passed' : `check: failed: ${failed.join(', ')}`);
  return failed.length === 0;
}

function major(version) {
  return version.trim().split('.', 1)[0];
}

function toolchainIsHere() {
  if (major(process.versions.node) !== major(NODE)) return false;
  const pnpm = run('pnpm', ['--version'], 'pipe');
  return pnpm.ok && major(pnpm.stdout) === major(PNPM);
}

function reenter(argv) {
  process.env[GUARD] = '1';
  const call = ['node', '.ci/toolchain.mjs', ...argv].map((word) => JSON.stringify(word)).join(' ');
  const args = [`--package=node@${NODE}`, `--package=pnpm@${PNPM}`, '--call', call];
  return run('npm', ['exec', '--yes', '--prefer-offline', ...args]).status;
}

function main([task, ...args]) {
  const known = Object.hasOwn(TASKS, task ?? '');
  if (!known) {
    console.error(`Unknown task ${task}. Tasks: ${Object.keys(TASKS).join(', ')}.`);
    return 2;
  }
  if (toolchainIsHere()) return TASKS[task](args) ? 0 : 1;
  if (process.env[GUARD]) {
    console.error(
      `Node ${NODE} and pnpm ${PNPM} were asked from npm, but Node ${process.versions.node} runs ` +
        'here. Put both on PATH yourself, then run the script again.',
    );
    return 1;
  }
  return reenter([task, ...args]);
}

// npm exec hands its own options down as environment variables, where they would become the
// options of every npm that a task starts.
for (const option of ['call', 'package', 'yes']) delete process.env[`npm_config_${option}`];

process.exitCode = main(process.argv.slice(2));
