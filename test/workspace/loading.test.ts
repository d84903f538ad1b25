import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeBinary } from '@sameriver/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishedPackages } from './manifests.ts';

// A top-level await anywhere in the graph makes require() of an ES module throw.
const entries = publishedPackages().flatMap(({ dir, manifest }) =>
  Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === 'string' || target['default'] === undefined
      ? []
      : [{ entry: join(manifest.name, subpath), file: join(dir, target['default']) }],
  ),
);

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'sameriver-loading-'));
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

function load(line: 22 | 24 | 26, name: string, source: string) {
  const program = join(scratch, name);
  writeFileSync(program, source);
  const { status, stdout, stderr } = spawnSync(nodeBinary(line), [program], {
    encoding: 'utf8',
    env: { ...process.env, OTEL_SDK_DISABLED: 'true', NODE_OPTIONS: '' },
  });
  return { status, stdout, stderr };
}

const silentSuccess = { status: 0, stdout: '', stderr: '' };

describe.each([22, 24, 26] as const)('on Node %i', (line) => {
  test.each(entries)('$entry loads silently by require', ({ file }) => {
    expect(load(line, 'app.cjs', `require(${JSON.stringify(file)});`)).toEqual(silentSuccess);
  });

  test.each(entries)('$entry loads silently by import', ({ file }) => {
    const specifier = JSON.stringify(pathToFileURL(file).href);
    expect(load(line, 'app.mjs', `import ${specifier};`)).toEqual(silentSuccess);
  });
});
