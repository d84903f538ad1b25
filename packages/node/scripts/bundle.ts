// Bundles the entries of this package together with the packages of ours that they load. A process
// pays half a millisecond for each module, three times that under an asynchronous loader hook, and
// unbundled there are 140 of them.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'rolldown';
import { rolldown } from 'rolldown';

const PACKAGE = dirname(import.meta.dirname);
// The second and the last four are not exported: they are loaded by name, when they are needed.
const ENTRIES = [
  'register',
  'arm',
  'index',
  'begin',
  'own-sdk',
  'metrics-endpoint',
  'origin-redis',
];

/** What stands in the start of a process and is needed again when the process begins. */
const WAITING = /\/node\/src\/(config\/|api-globals|complain|lazy|process-state)/;

const MANIFEST = "createRequire(import.meta.url)('../package.json')";

/** An instrumentation reads its name and version from the folder above, which a bundle has left. */
const manifestInline: Plugin = {
  name: 'manifest-inline',
  transform(code, id) {
    if (!code.includes(MANIFEST)) return null;
    const { name, version } = JSON.parse(
      readFileSync(join(dirname(id), '../package.json'), 'utf8'),
    );
    return { code: code.replace(MANIFEST, JSON.stringify({ name, version })), map: null };
  },
};

const bundle = await rolldown({
  cwd: PACKAGE,
  input: Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  external: (id) => !/^[./]|^@sameriver\/|^src\//.test(id),
  resolve: { conditionNames: ['@sameriver/source', 'node', 'import', 'default'] },
  plugins: [manifestInline],
});
await bundle.write({
  dir: 'dist/bundle',
  cleanDir: true,
  format: 'esm',
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  // A process that waits for its first use loads the first alone; a group takes along whatever its
  // modules import, so what needs the API of OpenTelemetry stays out of it.
  codeSplitting: {
    groups: [
      { name: 'start', test: WAITING, minShareCount: 2 },
      { name: 'instrumentations', test: /\/src\//, minShareCount: 2 },
    ],
  },
});
await bundle.close();
