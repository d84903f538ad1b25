import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JaegerServer } from '@sameriver/testkit';
import {
  debianPackageOrReason,
  freePort,
  goProgram,
  jaegerServer,
  loopback,
  otlpCollector,
} from '@sameriver/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { traceById } from '../jaeger/jaeger-api.ts';
import { startPrometheusServers } from './prometheus-servers.ts';

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url));
const ALERT = 'EventStreamReoriginated';
/** A hang detector for each step, not an expectation. */
const PATIENCE = { timeout: 90_000, interval: 100 };

interface Alert {
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

async function webhook() {
  const alerts: Alert[] = [];
  const { origin, close } = await loopback((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { readonly alerts: Alert[] };
      alerts.push(...body.alerts);
      response.end();
    });
  });
  onTestFinished(close);
  return { origin, alerts };
}

/** Where spans go, and how to know of a trace: a Jaeger where there is one, else our collector. */
async function traceStore() {
  const { binary } = goProgram('jaeger');
  if (binary === undefined) {
    const collector = await otlpCollector();
    onTestFinished(collector.close);
    const tags = (id: string) =>
      collector.spans.filter(({ traceId }) => traceId === id).map(({ attributes }) => attributes);
    return { env: collector.env, tagsOfTrace: (id: string) => Promise.resolve(tags(id)) };
  }
  const jaeger: JaegerServer = await jaegerServer(binary);
  onTestFinished(jaeger.close);
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: jaeger.otlp,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
    },
    tagsOfTrace: async (id: string) =>
      ((await traceById(jaeger.query, id)) ?? []).map(({ tags }) => tags),
  };
}

async function startService(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['--import', '@sameriver/node/register', 'service.mjs'], {
    cwd: FIXTURES,
    env: { ...process.env, OTEL_SERVICE_NAME: 'orders', OTEL_BSP_SCHEDULE_DELAY: '100', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { incident: () => fetch(`http://127.0.0.1:${port}/incident`, { method: 'POST' }) };
}

test('a re-origination is pending, fires, reaches a webhook with its runbook, leads to its trace, and is resolved', async ({
  skip,
}) => {
  const prometheus = await debianPackageOrReason('prometheus');
  const alertmanager = await debianPackageOrReason('prometheus-alertmanager');
  if ('absent' in prometheus) return skip(prometheus.absent);
  if ('absent' in alertmanager) return skip(alertmanager.absent);
  const [hook, store, port] = [await webhook(), await traceStore(), String(await freePort())];
  const service = await startService({ ...store.env, SAMERIVER_METRICS_PORT: port });
  const servers = await startPrometheusServers({
    prometheus: prometheus.path,
    alertmanager: alertmanager.path,
    targets: { orders: `127.0.0.1:${port}` },
    webhook: hook.origin,
  });
  onTestFinished(servers.close);

  const zero = { query: 'sum(event_stream_client_reoriginations_total{job="orders"})' };
  const total = async (): Promise<unknown> => servers.ask('query', zero).catch(() => undefined);
  await expect
    .poll(total, PATIENCE)
    .toMatchObject({ result: [{ value: [expect.anything(), '0'] }] });
  await service.incident();

  const mine = (status: string) => () =>
    hook.alerts.find(
      ({ labels, ...alert }) =>
        alert.status === status &&
        labels['alertname'] === ALERT &&
        labels['event_stream_role'] === 'client',
    );
  await expect.poll(mine('firing'), PATIENCE).toMatchObject({
    labels: { job: 'orders', severity: 'warning', event_stream_protocol_name: 'sse' },
    annotations: {
      summary: 'Streams began anew instead of going on.',
      description: expect.stringMatching(
        /^orders \(client side, sse\): 1 reconnects in 15 minutes/,
      ),
      runbook_url: `https://unpkg.com/@sameriver/prometheus/runbooks/${ALERT}.md`,
    },
  });

  const [{ exemplars } = { exemplars: [] }] = (await servers.ask('query_exemplars', {
    query: 'event_stream_client_reoriginations_total{job="orders"}',
    start: String(Date.now() / 1_000 - 600),
    end: String(Date.now() / 1_000 + 60),
  })) as ReadonlyArray<{
    readonly exemplars: ReadonlyArray<{ readonly labels: Readonly<Record<string, string>> }>;
  }>;
  expect(exemplars).toHaveLength(1);
  const { trace_id: traceId = '' } = exemplars[0]?.labels ?? {};
  await expect
    .poll(() => store.tagsOfTrace(traceId), PATIENCE)
    .toContainEqual(
      expect.objectContaining({
        'event_stream.role': 'client',
        'event_stream.classification': 'reoriginated',
        'event_stream.reason': 'cursor_not_advanced',
      }),
    );

  await expect.poll(mine('resolved'), PATIENCE).toBeDefined();
  const selector = `ALERTS{alertname="${ALERT}", event_stream_role="client"}`;
  const { result } = (await servers.ask('query', { query: `${selector}[10m]` })) as {
    readonly result: ReadonlyArray<{
      readonly metric: Readonly<Record<string, string>>;
      readonly values: ReadonlyArray<readonly [seconds: number, value: string]>;
    }>;
  };
  const states = result
    .toSorted((one, other) => (one.values[0]?.[0] ?? 0) - (other.values[0]?.[0] ?? 0))
    .map(({ metric }) => metric['alertstate']);
  expect(states).toEqual(['pending', 'firing']);
  expect(await servers.ask('query', { query: selector })).toMatchObject({ result: [] });
}, 300_000);
