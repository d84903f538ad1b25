import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from './lib/report.ts';
import { heading, printFindings } from './lib/report.ts';

// Young space large enough that no collection falls into a slice in which allocation is counted.
const FLAGS = [
  '--expose-gc',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--disable-warning=ExperimentalWarning',
];

const wanted = process.argv.slice(2);
const benches = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.bench.ts'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.startsWith(part)))
  .sort();

if (benches.length === 0) {
  console.error(`No benchmark begins with ${wanted.join(' or ')}.`);
  process.exitCode = 1;
}

console.log(`Node ${process.versions.node}, V8 ${process.versions.v8}, ${process.arch}`);
const findings: Finding[] = [];
// One process for each benchmark: the optimiser's memory of one must not colour the next.
for (const name of benches) {
  const bench = spawn(process.execPath, [...FLAGS, join(import.meta.dirname, name)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  bench.on('message', (found) => findings.push(...(found as Finding[])));
  const [status] = await once(bench, 'close');
  if (status !== 0) {
    console.error(`${name} ended with status ${status}.`);
    process.exitCode = 1;
  }
}
if (benches.length > 1) {
  heading('Goals');
  printFindings(findings);
}
