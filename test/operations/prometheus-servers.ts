import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@sameriver/testkit';

const RULES = fileURLToPath(new URL('../../packages/prometheus/rules/', import.meta.url));

/** A Prometheus and an Alertmanager of the test's own on the loopback interface. */
export interface PrometheusServers {
  /** Answer of Prometheus' API, the part below `data`. */
  ask(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>;
  close(): Promise<void>;
}

export interface PrometheusSetup {
  readonly prometheus: string;
  readonly alertmanager: string;
  /** `host:port` by the name of the job. */
  readonly targets: Readonly<Record<string, string>>;
  readonly webhook: string;
}

/** Starts both with the rules as they are shipped, but for their time: a minute takes a second. */
export async function startPrometheusServers(setup: PrometheusSetup): Promise<PrometheusServers> {
  const folder = mkdtempSync(join(tmpdir(), 'sameriver-prometheus-'));
  const [port, alertPort] = [await freePort(), await freePort()];
  const file = (name: string, content: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const rules = ['recording.yaml', 'alerts.yaml'].map((name) =>
    file(name, quickened(readFileSync(join(RULES, name), 'utf8'))),
  );
  const children = [
    start(setup.prometheus, [
      `--config.file=${file('prometheus.json', prometheusConfig(setup.targets, rules, alertPort))}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ]),
    start(setup.alertmanager, [
      `--config.file=${file('alertmanager.json', alertmanagerConfig(setup.webhook))}`,
      `--storage.path=${join(folder, 'alertmanager')}`,
      `--web.listen-address=127.0.0.1:${alertPort}`,
      '--cluster.listen-address=',
    ]),
  ];
  return {
    ask: async (path, parameters = {}) => {
      const url = `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`;
      const { data } = (await (await fetch(url)).json()) as { readonly data: unknown };
      return data;
    },
    close: async () => {
      await Promise.all(children.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Minutes become seconds, hours minutes, days 24 minutes: every window keeps its share of the others. */
function quickened(rules: string): string {
  const UNITS: Readonly<Record<string, (count: number) => string>> = {
    m: (count) => `${count}s`,
    h: (count) => `${count}m`,
    d: (count) => `${count * 24}m`,
  };
  return rules.replaceAll(
    /(\[|offset |for: )(\d+)([mhd])\b/g,
    (_, before: string, count: string, unit: string) => before + UNITS[unit]?.(Number(count)),
  );
}

function prometheusConfig(
  targets: PrometheusSetup['targets'],
  rules: readonly string[],
  alertPort: number,
): unknown {
  return {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
    rule_files: rules,
    alerting: {
      alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertPort}`] }] }],
    },
    scrape_configs: Object.entries(targets).map(([job, target]) => ({
      job_name: job,
      static_configs: [{ targets: [target] }],
    })),
  };
}

function alertmanagerConfig(url: string): unknown {
  return {
    route: {
      receiver: 'hook',
      group_by: ['alertname', 'event_stream_role'],
      group_wait: '1s',
      group_interval: '1s',
    },
    receivers: [{ name: 'hook', webhook_configs: [{ url, send_resolved: true }] }],
  };
}

function start(program: string, args: readonly string[]): ChildProcess {
  return spawn(program, args, { stdio: 'ignore' });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
