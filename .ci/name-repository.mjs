// Writes into each manifest where it is published from: npm refuses a statement of origin whose
// repository the manifest does not name, and a fork publishes from elsewhere.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const { GITHUB_SERVER_URL = 'https://github.com', GITHUB_REPOSITORY } = process.env;
if (GITHUB_REPOSITORY === undefined) {
  console.error('GITHUB_REPOSITORY is not set: this is a step of the release workflow.');
  process.exit(1);
}

const packages = new URL('../packages/', import.meta.url);
for (const entry of readdirSync(packages, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  const file = new URL(`${entry.name}/package.json`, packages);
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  if (manifest.private) continue;
  manifest.repository = {
    type: 'git',
    url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`,
    directory: `packages/${entry.name}`,
  };
  writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
}
