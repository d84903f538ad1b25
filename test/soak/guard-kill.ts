// Kills a consumer a thousand times against each ledger: node test/soak/guard-kill.ts [KILLS] [SEED] [LEDGER] [KIND]
// Ends with 1 when an event was applied twice, or lost without a StreamResumptionViolation.
import process from 'node:process';
import { killConsumer } from './guard/kill-consumer.ts';

const [kills = '1000', seed = String(Date.now() % 1_000_000), only, onlyKind] =
  process.argv.slice(2);
let failed = false;
for (const ledger of ['sqlite', 'redis'] as const) {
  if (only !== undefined && only !== ledger) continue;
  for (const kind of ['keyed', 'keyless'] as const) {
    if (onlyKind !== undefined && onlyKind !== kind) continue;
    const began = performance.now();
    const share = Math.ceil(Number(kills) / 2);
    const report = await killConsumer({ ledger, kind, kills: share, seed: Number(seed) });
    const seconds = Math.round((performance.now() - began) / 1_000);
    const { wrong, ...figures } = report;
    console.log(`${ledger} ${kind}, seed ${seed}: ${JSON.stringify(figures)} in ${seconds} s`);
    for (const line of wrong) console.log(`  ${line}`);
    failed ||= wrong.length > 0;
  }
}
process.exitCode = failed ? 1 : 0;
