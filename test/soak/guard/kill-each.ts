import { killConsumer } from './kill-consumer.ts';

const LEDGERS = ['sqlite', 'redis'] as const;
const KINDS = ['keyed', 'keyless'] as const;

export interface KillEachOptions {
  /** Of the consumer of each ledger, half with keys and half without. */
  readonly kills: number;
  readonly seed: number;
  /** Only this ledger, or this kind of events. */
  readonly ledger?: string | undefined;
  readonly kind?: string | undefined;
}

/** Kills a consumer on each ledger and prints how that went. @returns What is wrong, a line each. */
export async function killEach({ kills, seed, ...only }: KillEachOptions): Promise<string[]> {
  const faults: string[] = [];
  for (const ledger of LEDGERS.filter((each) => each === (only.ledger ?? each))) {
    for (const kind of KINDS.filter((each) => each === (only.kind ?? each))) {
      const began = performance.now();
      const report = await killConsumer({ ledger, kind, kills: Math.ceil(kills / 2), seed });
      const seconds = Math.round((performance.now() - began) / 1_000);
      const { wrong, ...figures } = report;
      console.log(`${ledger} ${kind}, seed ${seed}: ${JSON.stringify(figures)} in ${seconds} s`);
      faults.push(...wrong.map((line) => `${ledger} ${kind}: ${line}`));
    }
  }
  return faults;
}
