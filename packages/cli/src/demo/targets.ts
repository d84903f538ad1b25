import { renameSync, writeFileSync } from 'node:fs';

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
