import { ROOT_CONTEXT } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import * as successor from '@prometheus-io/client';
import * as promClient from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { METRICS } from '../../telemetry/src/metric-definitions.ts';
import { watchReplayWindow } from '../../telemetry/src/process-windows.ts';
import type { Telemetry, TelemetryOptions } from '../../telemetry/test/harness.ts';
import {
  connection,
  disableRecorders,
  REFUSED,
  REORIGINATED,
  RESUMED,
  report,
  telemetry,
  UNVERIFIABLE,
} from '../../telemetry/test/harness.ts';
import type { PrometheusRegistry } from './bridge.ts';
import { bridgeMetrics } from './bridge.ts';
import { metricName } from './names.ts';

// Their types differ in what content types they name; what is used here is the same.
const LIBRARIES: ReadonlyArray<readonly [name: string, library: typeof promClient]> = [
  ['prom-client', promClient],
  ['@prometheus-io/client', successor as never],
];

const undo: Array<() => void> = [];

afterEach(() => {
  disableRecorders();
  for (const step of undo.splice(0)) step();
});

/** Reconnects with every kind of verdict, a loss, repeats, a move, an end and a failure of ours. */
function live(t: Telemetry): void {
  for (const role of ['client', 'server'] as const) {
    for (const verdict of [RESUMED, REORIGINATED, REORIGINATED, UNVERIFIABLE, REFUSED]) {
      const one = connection({ role, ordinal: 1, protocol: 'mcp-2025' });
      t.recorder.opened(one, { context: ROOT_CONTEXT });
      t.recorder.settled(one, report({ verdict, missed: 9, replayed: 3 }));
      Object.assign(one, { events: 40, repeated: 2 });
      t.now += 2_500;
      t.recorder.ended(one, 'reset', [report({ verdict, missed: 9, replayed: 3 })]);
    }
  }
  const migration = { from: 'sse', to: 'websocket', outcome: 'lossy', askedAt: 0 } as const;
  const moved = connection({ ordinal: 1, transport: 'websocket', protocol: 'websocket' });
  t.recorder.opened(moved, { context: ROOT_CONTEXT });
  t.recorder.settled(moved, report({ verdict: REORIGINATED, migration }));
  t.recorder.instrumentationError('decoder');
  undo.push(watchReplayWindow(() => ({ usage: 190, limit: 200 })));
}

/** Samples of a page: name and sorted labels to value, without what only OpenTelemetry adds. */
function samples(page: string): Map<string, number> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.flatMap((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*?)\})? (\S+)/.exec(line) ?? [];
      if (name === 'target_info') return [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)]
        .map(([pair]) => pair)
        .filter((pair) => !pair.startsWith('otel_scope_'));
      return [[`${name}{${pairs.sort()}}`, Number(value)] as const];
    }),
  );
}

function bridged(registry: PrometheusRegistry, options?: TelemetryOptions) {
  undo.push(bridgeMetrics(registry));
  return telemetry(options);
}

describe.each(LIBRARIES)('%s', (_, library) => {
  function openMetrics() {
    const { Registry } = library;
    const registry = new Registry();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    return registry;
  }

  test('names, labels and counts are those of the OpenTelemetry exporter', async () => {
    const registry = new library.Registry();
    const t = bridged(registry, { metrics: 'both' });
    const exporter = new PrometheusExporter({ preventServerStart: true });
    t.recorder.setMeterProvider(new MeterProvider({ readers: [exporter] }));
    live(t);
    const page = await new Promise<string>((resolve) => {
      const end = (text: string): void => resolve(text);
      exporter.getMetricsRequestHandler({} as never, { setHeader: () => {}, end } as never);
    });
    const ours = samples(await registry.metrics());
    expect([...ours].filter(([, value]) => value > 0).length).toBeGreaterThan(60);
    expect(ours).toEqual(samples(page));
  });

  test('the OpenMetrics format has the same samples, with the trace of each increase', async () => {
    const [plain, open] = [new library.Registry(), openMetrics()];
    undo.push(bridgeMetrics(plain));
    const t = bridged(open);
    live(t);
    const page = await open.metrics();
    expect(samples(page)).toEqual(samples(await plain.metrics()));
    expect(page.endsWith('# EOF\n')).toBe(true);
    const told = t.spans().map((span) => span.spanContext());
    const exemplars = [
      ...page.matchAll(/^(\w+)\{.* # \{trace_id="(\w+)",span_id="(\w+)"\} (\d+)/gm),
    ];
    for (const [, , traceId, spanId] of exemplars) {
      expect(told).toContainEqual(expect.objectContaining({ traceId, spanId }));
    }
    expect([...new Set(exemplars.map(([, name]) => name))].sort()).toEqual([
      'event_stream_client_connection_duration_bucket',
      'event_stream_client_duplicate_events_total',
      'event_stream_client_gaps_total',
      'event_stream_client_missed_events_total',
      'event_stream_client_reconnects_total',
      'event_stream_client_reoriginations_total',
      'event_stream_migrations_total',
      'event_stream_reconnect_event_loop_utilization_bucket',
      'event_stream_server_connection_duration_bucket',
      'event_stream_server_duplicate_events_total',
      'event_stream_server_gaps_total',
      'event_stream_server_missed_events_total',
      'event_stream_server_reconnects_total',
      'event_stream_server_reoriginations_total',
      'event_stream_server_replay_size_bucket',
    ]);
  });

  test('a loss of nine is an exemplar of nine', async () => {
    const registry = openMetrics();
    live(bridged(registry));
    expect(await registry.metrics()).toMatch(
      /event_stream_client_missed_events_total\{.*\} \d+ # \{trace_id="\w{32}",span_id="\w{16}"\} 9 /,
    );
  });

  test('every counter has its series at the first scrape, all zero', async () => {
    const registry = new library.Registry();
    bridged(registry);
    const found = samples(await registry.metrics());
    const names = new Set([...found.keys()].map((key) => key.slice(0, key.indexOf('{'))));
    const counters = METRICS.filter(({ instrument }) => instrument === 'counter');
    expect(counters.map(metricName).filter((name) => !names.has(name))).toEqual([]);
    expect([...found.values()].every((value) => value === 0)).toBe(true);
  });

  test('a recorder that was there before the registry is in it', async () => {
    const t = telemetry();
    live(t);
    const registry = new library.Registry();
    undo.push(bridgeMetrics(registry));
    expect(await registry.metrics()).toMatch(/client_reoriginations_total\{.*\} 2$/m);
  });

  test('a window that is gone is absent, not 0', async () => {
    const registry = new library.Registry();
    bridged(registry).recorder.instrumentationError('decoder');
    const withdraw = watchReplayWindow(() => ({ usage: 190, limit: 200 }));
    const usage = 'event_stream_server_replay_window_usage{event_stream_protocol_name="sse"} 190';
    expect(await registry.metrics()).toContain(usage);
    withdraw();
    expect(await registry.metrics()).not.toContain('replay_window_usage{');
  });

  test('default labels of the registry and its reset leave the counts alone', async () => {
    const registry = new library.Registry();
    registry.setDefaultLabels({ app: 'orders' });
    live(bridged(registry));
    registry.resetMetrics();
    expect(await registry.metrics()).toMatch(/client_reoriginations_total\{.*app="orders".*\} 2$/m);
  });

  test('bridged twice, a registry has its metrics once, and taken out it has none', async () => {
    const registry = new library.Registry();
    const remove = bridgeMetrics(registry);
    expect(bridgeMetrics(registry)).toBe(remove);
    remove();
    expect((await registry.metrics()).trim()).toBe('');
    undo.push(bridgeMetrics(registry));
    expect(await registry.metrics()).toContain(
      '# TYPE event_stream_client_reconnects_total counter',
    );
  });

  test('a name that is taken is an error, and the registry is as it was', async () => {
    const registry = new library.Registry();
    const name = 'event_stream_migrations_total';
    new library.Counter({ name, help: 'mine', registers: [registry] });
    expect(() => bridgeMetrics(registry)).toThrow(/event_stream_migrations_total/);
    expect((await registry.getMetricsAsJSON()).map((metric) => metric.name)).toEqual([name]);
  });
});

test('what is no registry is named', () => {
  expect(() => bridgeMetrics({} as never)).toThrow(/expected a Registry of prom-client/);
  expect(() => bridgeMetrics(null as never)).toThrow(/got null/);
});
