// Go programs that are in no package registry we use are built once and kept outside the checkout.
// Plain JavaScript: .ci/run starts it before any install.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sameriver');
const LIMIT = 40 * 60_000;

function go(args, cwd) {
  return spawnSync('go', args, {
    cwd,
    encoding: 'utf8',
    timeout: LIMIT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' },
  });
}

function build({ module, version, flags = [] }, binary) {
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'sameriver-go-'));
  const draft = `${binary}.${process.pid}`;
  try {
    const steps = [
      ['mod', 'init', 'scratch'],
      ['get', '-tool', `${module}@${version}`],
      ['build', '-trimpath', '-ldflags=-s -w', ...flags, '-o', draft, module],
    ];
    for (const args of steps) {
      const { status, stderr, error } = go(args, scratch);
      if (status !== 0) return `go ${args.join(' ')}: ${error?.message ?? stderr.slice(-2_000)}`;
    }
    // Whoever looks at the same time finds all of it or nothing.
    renameSync(draft, binary);
    return undefined;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    rmSync(draft, { force: true });
  }
}

function find(program, onlyCached) {
  const { name, version } = program;
  const binary = join(CACHE, `${name}-${version}`);
  if (existsSync(binary)) return { binary };
  if (go(['version']).status !== 0) return { absent: `there is no Go here to build ${name} with` };
  if (onlyCached) {
    return {
      absent: `${name} is not built yet: node .ci/${name}.mjs does, in some minutes`,
      go: true,
    };
  }
  const trouble = build(program, binary);
  return trouble === undefined ? { binary } : { absent: trouble, go: true };
}

/**
 * Says in one line of JSON where the program is: {"binary":"…"}, or why there is none:
 * {"absent":"…"}. With --cached it only looks.
 */
export function report(program) {
  const found = find(program, process.argv.includes('--cached'));
  console.log(JSON.stringify(found));
  // Without Go there is nothing to be done; with it there has to be the program.
  process.exitCode = found.binary === undefined && found.go ? 1 : 0;
}
