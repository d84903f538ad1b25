import { chaos } from './chaos.ts';
import { churn } from './churn.ts';
import { killEach } from './guard/kill-each.ts';
import { collect, flatness, printSamples, sample } from './steady.ts';

// What a soak is in full; the short forms are tests.
const [connections = 200_000, seconds = 120, kills = 1000] = process.argv.slice(2).map(Number);
const CHECKPOINTS = 20;
/** Of churn, in milliseconds; a machine that needs longer fails by its count. */
const LONGEST = 30 * 60_000;

console.log(`Node ${process.versions.node}: churn of ${connections} connections`);
const samples = [sample(0)];
const started = performance.now();
const churned = await churn({
  connections,
  readers: 64,
  seed: 1,
  until: started + LONGEST,
  checkpointEvery: Math.ceil(connections / CHECKPOINTS),
  checkpoint: (done) => {
    collect();
    samples.push(sample(done));
  },
});
const took = (performance.now() - started) / 1000;
console.log(`${churned.connections} connections in ${took.toFixed(0)} s`);
console.log(JSON.stringify(churned, undefined, 2));
printSamples(samples);
const unsteady = flatness(samples);
if (churned.connections < connections) unsteady.push(`only ${churned.connections} connections`);

console.log(`Chaos: backends behind HAProxy, killed for ${seconds} s`);
const chaotic = await chaos({ milliseconds: seconds * 1000, readers: 40, seed: 2 });
console.log(JSON.stringify(chaotic, undefined, 2));

console.log(`Guard: its consumer killed ${kills} times for each ledger`);
const killed = await killEach({ kills, seed: 3 });

const failures = [...unsteady, ...churned.faults, ...chaotic.faults, ...killed];
for (const failure of failures) console.error(`failed: ${failure}`);
console.log(failures.length === 0 ? 'soak: passed' : `soak: ${failures.length} failures`);
process.exit(failures.length === 0 ? 0 : 1);
