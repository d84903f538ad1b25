import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { debianPackage, freePort } from '@sameriver/testkit';

export interface Prometheus {
  /** Where the demo writes what is to be scraped. */
  readonly targetsFile: string;
  query(expr: string, at: number): Promise<readonly Answer[]>;
  queryRange(expr: string, from: number, to: number, step: number): Promise<readonly Answer[]>;
  close(): Promise<void>;
}

export interface Answer {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds since the epoch, and the value as text. */
  readonly values: ReadonlyArray<readonly [number, string]>;
}

const PATIENCE = 100;

/**
 * A Prometheus that scrapes twice a second what its file of targets names.
 *
 * @param gateway Host and port of a collector that it scrapes besides.
 */
export async function startPrometheus(gateway: string): Promise<Prometheus> {
  const program = await debianPackage('prometheus');
  const folder = mkdtempSync(join(tmpdir(), 'sameriver-pictures-'));
  const targetsFile = join(folder, 'targets.json');
  const config = join(folder, 'prometheus.yml');
  writeFileSync(config, configOf(targetsFile, gateway));
  const port = await freePort();
  const child = spawn(
    program,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: 'inherit' },
  );
  const origin = `http://127.0.0.1:${port}`;
  await ready(origin);
  return {
    targetsFile,
    query: (expr, at) => ask(origin, 'query', { query: expr, time: String(at) }),
    queryRange: (expr, from, to, step) =>
      ask(origin, 'query_range', {
        query: expr,
        start: String(from),
        end: String(to),
        step: String(step),
      }),
    close: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true });
    },
  };
}

function configOf(targetsFile: string, gateway: string): string {
  return JSON.stringify({
    global: { scrape_interval: '500ms', scrape_timeout: '500ms' },
    scrape_configs: [
      {
        job_name: 'demo',
        file_sd_configs: [{ files: [targetsFile], refresh_interval: '1s' }],
      },
      { job_name: 'gateway', static_configs: [{ targets: [gateway] }] },
    ],
  });
}

async function ready(origin: string): Promise<void> {
  for (let attempt = 0; attempt < PATIENCE; attempt++) {
    const answer = await fetch(`${origin}/-/ready`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(`Prometheus at ${origin} does not get ready`);
}

interface Payload {
  readonly error?: string;
  readonly data: {
    readonly result: ReadonlyArray<{
      readonly metric: Answer['metric'];
      readonly value?: readonly [number, string];
      readonly values?: Answer['values'];
    }>;
  };
}

async function ask(
  origin: string,
  what: string,
  parameters: Record<string, string>,
): Promise<readonly Answer[]> {
  const response = await fetch(`${origin}/api/v1/${what}?${new URLSearchParams(parameters)}`);
  const { error, data } = (await response.json()) as Payload;
  if (error !== undefined) throw new Error(`${error}: ${parameters['query']}`);
  return data.result.map(({ metric, value, values }) => ({
    metric,
    values: values ?? (value === undefined ? [] : [value]),
  }));
}
