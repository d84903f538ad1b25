import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process whose metrics can be scraped. */
export interface Target {
  readonly service: string;
  /** URL of its page. */
  readonly metrics: string;
}

/**
 * Says where the processes are scraped, in the form that `file_sd_configs` of Prometheus reads. The
 * file is replaced at once, so that nobody reads half of it.
 */
export function writeTargets(file: string, targets: readonly Target[]): void {
  const groups = targets.map(({ service, metrics }) => ({
    targets: [new URL(metrics).host],
    labels: { job: 'sameriver-demo', service },
  }));
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(groups, undefined, 2)}\n`);
  renameSync(draft, file);
}

/** Prometheus takes up changed targets every five seconds, whenever the file changed. */
const UNTIL_FOUND = 7_000;
/** For one that scrapes once a second. */
const UNTIL_SCRAPED = 2_000;

/** What rises before the first scrape is no increase, so whoever is scraped begins at zero. */
export async function untilFound(): Promise<void> {
  await sleep(UNTIL_FOUND);
}

/** The last counts are there for one scrape more. */
export async function untilScraped(): Promise<void> {
  await sleep(UNTIL_SCRAPED);
}
