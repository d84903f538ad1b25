#!/usr/bin/env node
// Plain JavaScript without static imports of ours: it must run on the Node that is too old for them.
import { spawn, spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const FLOOR = [22, 15];
const NODE_FROM_NPM = '24.21.0';
const ENTRY = new URL('../dist/main.js', import.meta.url);
const INTERNAL_ERROR = 70;

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > FLOOR[0] || (major === FLOOR[0] && minor >= FLOOR[1]);
}

function complain(message, status) {
  console.error(`sameriver: ${message}`);
  process.exitCode = status;
}

function here(args) {
  // Whoever reads has seen enough: `sameriver … | head` is no failure.
  process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : INTERNAL_ERROR));
  import(ENTRY.href)
    .then(({ main }) => main(args))
    .then(
      (status) => {
        process.exitCode = status;
      },
      (error) => {
        const unbuilt = error.code === 'ERR_MODULE_NOT_FOUND' && error.url === ENTRY.href;
        if (unbuilt) complain('is not built yet; run: npm run build', 2);
        else complain(error.stack, INTERNAL_ERROR);
      },
    );
}

// npm's `node` package carries the binary, so any npm can lend a recent Node to an old one.
function borrowNode() {
  const { stdout, status } = spawnSync(
    `npm exec --yes --package=node@${NODE_FROM_NPM} --call "node -p process.execPath"`,
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], shell: true },
  );
  if (status !== 0) return undefined;
  const node = stdout.trim().split('\n').at(-1);
  // An npm that answers with the Node it found on PATH would send us round in circles.
  const version = spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' });
  return version.status === 0 && isRecent(version.stdout) ? node : undefined;
}

function elsewhere(args) {
  const node = borrowNode();
  const floor = FLOOR.join('.');
  if (node === undefined) {
    const advice = `and npm cannot lend Node ${NODE_FROM_NPM}: install Node 24 and try again.`;
    complain(`needs Node >= ${floor}; this is ${process.versions.node}, ${advice}`, 2);
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' });
  child.on('error', (error) => complain(`cannot start ${node}: ${error.message}`, 2));
  child.on('exit', (status, signal) => {
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = status ?? INTERNAL_ERROR;
  });
}

const args = process.argv.slice(2);
if (isRecent(process.versions.node)) here(args);
else elsewhere(args);
