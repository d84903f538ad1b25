import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

// Daemons lie outside the PATH of whoever is not root.
const FOLDERS = [
  ...(process.env['PATH'] ?? '').split(':'),
  '/usr/local/sbin',
  '/usr/sbin',
  '/sbin',
];

// Test files run in processes of their own, which wait for each other here. The package lists may
// be missing or old: they are fetched only when they fail. No service is started by an installation
// (policy-rc.d, 101 = forbidden): the tests start their own on ports of their own.
const INSTALL = `
policy=/usr/sbin/policy-rc.d
[ -e "$policy" ] || { printf '#!/bin/sh\\nexit 101\\n' >"$policy"; chmod +x "$policy"; own=yes; }
[ -z "$own" ] || trap 'rm -f "$policy"' EXIT
export DEBIAN_FRONTEND=noninteractive
install="apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300"
dpkg -s "$1" >/dev/null 2>&1 || $install "$1" || { apt-get update && $install "$1"; }
`;

/**
 * Path of a program from Debian's packages, for tests against a real service. It is installed where
 * it is missing and the tests run as root.
 *
 * @param name Of the package: `redis-server`, `haproxy`, `nginx`, `prometheus` …
 * @param program Name of the program, or a path of its own (PostgreSQL's lie in no PATH). Default: `name`.
 * @returns Absolute path of an executable.
 * @throws Error when it is missing and cannot be installed; the message says what to install.
 */
export async function debianPackage(name: string, program: string = name): Promise<string> {
  const present = pathOf(program);
  if (present !== undefined) return present;
  const advice = `Install the package: apt-get install ${name}.`;
  if (process.getuid?.() !== 0) {
    throw new Error(`${program} is not installed and the tests do not run as root. ${advice}`);
  }
  try {
    await run('flock', ['/tmp/sameriver-packages.lock', 'sh', '-c', INSTALL, 'sh', name]);
  } catch (cause) {
    throw new Error(`${program} is not installed and apt-get failed. ${advice}`, { cause });
  }
  const installed = pathOf(program);
  if (installed === undefined) throw new Error(`The package ${name} has no program ${program}.`);
  return installed;
}

/**
 * The same for tests that are skipped where the program cannot be had.
 *
 * @returns The path, or why there is none.
 * @throws Error where it could have been installed and was not: a test may not be skipped there.
 */
export async function debianPackageOrReason(
  name: string,
  program: string = name,
): Promise<{ readonly path: string } | { readonly absent: string }> {
  try {
    return { path: await debianPackage(name, program) };
  } catch (error) {
    if (process.getuid?.() === 0 && pathOf('apt-get') !== undefined) throw error;
    return { absent: error instanceof Error ? error.message : String(error) };
  }
}

function pathOf(program: string): string | undefined {
  const candidates = program.startsWith('/') ? [program] : FOLDERS.map((at) => join(at, program));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
