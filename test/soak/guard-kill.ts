// Kills a consumer a thousand times against each ledger: node test/soak/guard-kill.ts [KILLS] [SEED] [LEDGER] [KIND]
// Ends with 1 when an event was applied twice, or lost without a StreamResumptionViolation.
import process from 'node:process';
import { killEach } from './guard/kill-each.ts';

const [kills = 1000, seed = Date.now() % 1_000_000] = process.argv.slice(2, 4).map(Number);
const [ledger, kind] = process.argv.slice(4);
const faults = await killEach({ kills, seed, ledger, kind });
for (const fault of faults) console.error(`failed: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
