import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

// One process per benchmark: the optimiser's memory of one must not colour the next.
const wanted = process.argv.slice(2);
const benches = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.bench.ts'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort();

if (benches.length === 0) console.error(`No benchmark matches ${JSON.stringify(wanted)}.`);

for (const name of benches) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, name)], {
    stdio: 'inherit',
  });
  if (status !== 0) {
    console.error(`${name} ended with status ${status}.`);
    process.exitCode = 1;
  }
}
