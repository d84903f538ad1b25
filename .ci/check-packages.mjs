// Packs every published package as it would be published, and judges the tarball: publint for the
// manifest, attw for the types that each kind of importer gets.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../packages', import.meta.url));

function published() {
  return readdirSync(PACKAGES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(PACKAGES, entry.name))
    .filter((dir) => !JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')).private);
}

function run(command, args, cwd) {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, encoding: 'utf8' }, (error, stdout, stderr) => {
      resolve({ ok: !error, text: `${stdout}${stderr}` });
    });
  });
}

async function checkPackage(dir, scratch) {
  const manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const tarball = join(scratch, `${manifest.name.replace(/[@/]/g, '-')}.tgz`);
  const steps = [
    ['pnpm', ['pack', '--out', tarball]],
    ['publint', ['run', tarball, '--strict']],
  ];
  // A package with only a bin has no types for attw to judge.
  const hasEntry = Object.keys(manifest.exports).some((key) => key !== './package.json');
  if (hasEntry) steps.push(['attw', [tarball, '--profile', 'esm-only', '--no-color']]);
  for (const [command, args] of steps) {
    const { ok, text } = await run(command, args, dir);
    if (!ok) return `${manifest.name}: ${command} says\n${text}`;
  }
  return undefined;
}

async function main() {
  const scratch = mkdtempSync(join(tmpdir(), 'sameriver-pack-'));
  try {
    const dirs = published();
    const problems = await Promise.all(dirs.map((dir) => checkPackage(dir, scratch)));
    const found = problems.filter((problem) => problem !== undefined);
    for (const problem of found) console.error(problem);
    console.log(`${dirs.length - found.length} of ${dirs.length} packages are fit to publish`);
    return found.length === 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

process.exitCode = await main();
