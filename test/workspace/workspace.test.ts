import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Manifest } from './manifests.ts';
import { publishedPackages, ROOT, readJson } from './manifests.ts';

// The arrows of the architecture: what a package of ours may import from its neighbours.
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  '@sameriver/core': [],
  '@sameriver/guard': ['@sameriver/core'],
  '@sameriver/telemetry': ['@sameriver/core'],
  '@sameriver/instrumentation-sse': ['@sameriver/core', '@sameriver/telemetry'],
  '@sameriver/instrumentation-websocket': ['@sameriver/core', '@sameriver/telemetry'],
  '@sameriver/instrumentation-mcp': ['@sameriver/core', '@sameriver/telemetry'],
  '@sameriver/prometheus': ['@sameriver/core', '@sameriver/telemetry'],
  '@sameriver/node': [
    '@sameriver/core',
    '@sameriver/telemetry',
    '@sameriver/instrumentation-sse',
    '@sameriver/instrumentation-websocket',
    '@sameriver/instrumentation-mcp',
    '@sameriver/prometheus',
  ],
  sameriver: [
    '@sameriver/core',
    '@sameriver/guard',
    '@sameriver/telemetry',
    '@sameriver/instrumentation-sse',
    '@sameriver/instrumentation-websocket',
    '@sameriver/node',
  ],
};

const packages = publishedPackages();
const names = packages.map(({ manifest }) => manifest.name);

function withoutSource(exports: Manifest['exports']): Manifest['exports'] {
  return Object.fromEntries(
    Object.entries(exports).map(([subpath, target]) => {
      if (typeof target === 'string') return [subpath, target];
      const { '@sameriver/source': _, ...conditions } = target;
      return [subpath, conditions];
    }),
  );
}

test('every published package has its place in the table of arrows', () => {
  expect([...names].sort()).toEqual(Object.keys(ARROWS).sort());
});

test('all published packages are released in lockstep', () => {
  const config = readJson<{ fixed: string[][] }>(join(ROOT, '.changeset/config.json'));
  expect([...(config.fixed[0] ?? [])].sort()).toEqual([...names].sort());
  expect(new Set(packages.map(({ manifest }) => manifest.version)).size).toBe(1);
});

test('core has no dependency of any kind', () => {
  const core = packages.find(({ manifest }) => manifest.name === '@sameriver/core')?.manifest;
  expect(core?.dependencies ?? {}).toEqual({});
  expect(core?.peerDependencies ?? {}).toEqual({});
});

describe.each(packages)('$manifest.name', ({ dir, manifest }) => {
  test('depends on no neighbour that the architecture does not allow', () => {
    const ours = Object.keys(manifest.dependencies ?? {}).filter(
      (name) => name.startsWith('@sameriver/') || name === 'sameriver',
    );
    expect(ARROWS[manifest.name]).toEqual(expect.arrayContaining(ours));
  });

  test('publishes the entries that the workspace uses, without the condition of the sources', () => {
    expect(manifest.publishConfig?.exports).toEqual(withoutSource(manifest.exports));
  });

  test('is public, ESM only, Apache-2.0 and asks for the Node floor', () => {
    expect(manifest).toMatchObject({
      type: 'module',
      license: 'Apache-2.0',
      engines: { node: '>=22.15.0' },
      publishConfig: { access: 'public' },
    });
  });

  test('is built by the solution file', () => {
    const solution = readFileSync(join(dir, '../tsconfig.json'), 'utf8');
    const folder = dir.slice(dir.lastIndexOf('/') + 1);
    expect(JSON.parse(solution).references).toContainEqual({ path: folder });
  });
});
