import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  ATTEMPTS,
  GATED,
  isBudget,
  judgeAttempts,
  nameOf,
  printJudged,
  readLevels,
  SHOWN,
} from './gate.ts';
import type { Finding } from './lib/report.ts';
import { heading, printFindings } from './lib/report.ts';

// Young space large enough that no collection falls into a slice in which allocation is counted.
const FLAGS = [
  '--expose-gc',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--disable-warning=ExperimentalWarning',
];
const args = process.argv.slice(2);
/** `--gate`: every goal, with retries. `--budgets`: the part of it that each CI run can afford. */
const isBudgets = args.includes('--budgets');
const isGate = isBudgets || args.includes('--gate');
/** The part of its rounds that a benchmark runs in the gate, which must not take long. */
const GATE_SHARE = isBudgets ? '0.1' : '0.4';
const wanted = args.filter((arg) => !arg.startsWith('--'));

console.log(`Node ${process.versions.node}, V8 ${process.versions.v8}, ${process.arch}`);
if (isGate) await gate(wanted.length > 0 ? wanted : [...GATED, ...(isBudgets ? [] : SHOWN)]);
else {
  const found = await runAll(benchesOf(wanted));
  if (found.length > 0) {
    heading('Goals');
    printFindings(found);
  }
}

function benchesOf(names: readonly string[]): string[] {
  const benches = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.bench.ts'))
    .map((name) => name.slice(0, -'.bench.ts'.length))
    .sort();
  const unknown = names.filter((name) => !benches.includes(name));
  if (unknown.length > 0) {
    console.error(
      `No benchmark is named ${unknown.join(' or ')}; there are ${benches.join(', ')}.`,
    );
    process.exitCode = 1;
  }
  return benches.filter((name) => names.length === 0 || names.includes(name));
}

async function runAll(benches: readonly string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const name of benches) findings.push(...(await run(name)));
  return findings;
}

/** One process for each benchmark: the optimiser's memory of one must not colour the next. */
async function run(name: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const bench = spawn(process.execPath, [...FLAGS, join(import.meta.dirname, `${name}.bench.ts`)], {
    stdio: ['ignore', isGate ? 'ignore' : 'inherit', 'inherit', 'ipc'],
    env: isGate ? { BENCH_SHARE: GATE_SHARE, ...process.env } : process.env,
  });
  bench.on('message', (found) => findings.push(...(found as Finding[])));
  const [status] = await once(bench, 'close');
  if (status !== 0) {
    console.error(`${name} ended with status ${status}.`);
    process.exitCode = 1;
  }
  return findings;
}

/** A benchmark that fails is run again, as the machine may have been busy; its best counts. */
async function gate(parts: readonly string[]): Promise<void> {
  const levels = readLevels();
  const failed: string[] = [];
  for (const name of parts.flatMap((part) => benchesOf([part]))) {
    const attempts: Finding[][] = [];
    let judged = judgeAttempts(attempts, levels);
    do {
      const found = await run(name);
      attempts.push(isBudgets ? found.filter(isBudget) : found);
      judged = judgeAttempts(attempts, levels);
    } while (attempts.length < ATTEMPTS && judged.some(({ outcome }) => outcome === 'failed'));
    heading(`${name}, ${attempts.length} of ${ATTEMPTS} attempts`);
    printFindings(attempts.flat().filter(({ goal }) => goal === 'A/A'));
    printJudged(judged);
    const worst = judged.filter(({ outcome }) => outcome === 'failed');
    failed.push(...worst.map(({ finding }) => nameOf(finding)));
  }
  for (const name of failed) console.error(`beyond its limit: ${name}`);
  console.log(failed.length === 0 ? 'gate: passed' : `gate: ${failed.length} failed`);
  if (failed.length > 0) process.exitCode = 1;
}
