// Jaeger is a Go program that is in no package registry we use, so it is built once and kept outside
// the checkout. Says in one line of JSON where it is: {"binary":"…"}, or why there is none:
// {"absent":"…"}. With --cached it only looks. Plain JavaScript: .ci/run starts it before any install.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const MODULE = 'github.com/jaegertracing/jaeger/cmd/jaeger';
const VERSION = 'v1.76.0';
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sameriver');
const BINARY = join(CACHE, `jaeger-${VERSION}`);
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

function build() {
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'sameriver-jaeger-'));
  const draft = `${BINARY}.${process.pid}`;
  try {
    const steps = [
      ['mod', 'init', 'scratch'],
      ['get', '-tool', `${MODULE}@${VERSION}`],
      ['build', '-trimpath', '-ldflags=-s -w', '-o', draft, MODULE],
    ];
    for (const args of steps) {
      const { status, stderr, error } = go(args, scratch);
      if (status !== 0) return `go ${args.join(' ')}: ${error?.message ?? stderr.slice(-2_000)}`;
    }
    // Whoever looks at the same time finds all of it or nothing.
    renameSync(draft, BINARY);
    return undefined;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    rmSync(draft, { force: true });
  }
}

function find(onlyCached) {
  if (existsSync(BINARY)) return { binary: BINARY };
  if (go(['version']).status !== 0) return { absent: 'there is no Go here to build Jaeger with' };
  if (onlyCached) {
    return {
      absent: 'Jaeger is not built yet: node .ci/jaeger.mjs does, in some minutes',
      go: true,
    };
  }
  const trouble = build();
  return trouble === undefined ? { binary: BINARY } : { absent: trouble, go: true };
}

const found = find(process.argv.includes('--cached'));
console.log(JSON.stringify(found));
// Without Go there is nothing to be done; with it there has to be a Jaeger.
process.exitCode = found.binary === undefined && found.go ? 1 : 0;
