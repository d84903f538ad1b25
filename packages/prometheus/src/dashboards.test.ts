import { readdirSync, readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { METRICS } from '@sameriver/telemetry';
import { describe, expect, test } from 'vitest';
import { renderDashboards } from '../scripts/dashboards/all.ts';
import { series } from '../scripts/dashboards/queries.ts';
import { labelName, metricName } from './names.ts';

const FOLDER = new URL('../dashboards/', import.meta.url);

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
  readonly exemplar?: boolean;
}

interface Dashboard {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: ReadonlyArray<{ readonly name: string }> };
  readonly panels: ReadonlyArray<{
    readonly title: string;
    readonly description: string;
    readonly type: string;
    readonly targets: readonly Target[];
  }>;
}

const FILES = readdirSync(FOLDER);
const DASHBOARDS = FILES.map((file) => {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Dashboard;
});
const QUERIES = DASHBOARDS.flatMap(({ uid, panels }) =>
  panels.flatMap(({ title, targets }) => targets.map((target) => ({ uid, title, target }))),
);

test('the dashboards that are shipped are those that the code makes', () => {
  const rendered = renderDashboards();
  expect(FILES.sort()).toEqual([...rendered.keys()].sort());
  for (const [file, text] of rendered) {
    expect(readFileSync(new URL(file, FOLDER), 'utf8'), file).toBe(text);
  }
});

test('every dashboard has an id of its own, a choice of data source and job, and says what each panel shows', () => {
  expect(new Set(DASHBOARDS.map(({ uid }) => uid)).size).toBe(DASHBOARDS.length);
  for (const { schemaVersion, templating, panels } of DASHBOARDS) {
    expect(schemaVersion).toBeGreaterThanOrEqual(39);
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'job']);
    for (const { title, description, targets } of panels) {
      expect(description, title).toMatch(/[.]$/);
      expect(targets.length, title).toBeGreaterThan(0);
    }
  }
});

/** Grafana puts durations in before Prometheus sees the query. */
function asSent(expr: string): string {
  return expr.replaceAll(/\$__(?:rate_interval|range)/g, '5m');
}

interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** @throws Error for what is no PromQL. */
function selectorsOf(expr: string): Selector[] {
  const query = asSent(expr);
  const selectors: Array<{ metric: string; labels: string[] }> = [];
  parser.parse(query).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${query}`);
      const text = query.slice(from, to);
      if (type.name === 'VectorSelector') selectors.push({ metric: '', labels: [] });
      const selector = selectors.at(-1);
      if (selector === undefined) return;
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') {
        selector.metric = text;
      }
      if (type.name !== 'UnquotedLabelMatcher') return;
      const [, label = '', value = ''] = /^(\w+)\s*(?:=~|!~|!=|=)\s*"(.*)"$/.exec(text) ?? [];
      if (label === '__name__') selector.metric = value;
      else selector.labels.push(label);
    },
  });
  return selectors;
}

const LABELS = new Map(
  METRICS.map((definition) => [
    metricName(definition),
    new Set([...definition.attributes.map(labelName), 'job', 'instance', 'le']),
  ]),
);

/** What the gateway of the recipe counts, by the dimensions that its configuration names. */
const SPANS = 'traces_span_metrics_streams_calls_total';
const GATEWAY = new URL('../../../docs/recipes/collector/gateway.yaml', import.meta.url);
LABELS.set(
  SPANS,
  new Set([
    'span_name',
    ...[...readFileSync(GATEWAY, 'utf8').matchAll(/^ {6}- name: (event_stream\S+)$/gm)].map(
      ([, name = '']) => labelName(name),
    ),
  ]),
);

/** Without what the paths of a histogram add to its name. */
function family(metric: string): string {
  return metric.replace(/_bucket$/, '').replace(/\(_(?:seconds|ratio)\)\?$/, '');
}

describe.each(QUERIES)('$uid, $title: $target.legendFormat', ({ target }) => {
  const selectors = selectorsOf(target.expr);

  test('is PromQL on metrics and labels of the registry', () => {
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, labels } of selectors) {
      const known = LABELS.get(family(metric));
      expect(known, metric).toBeDefined();
      expect(labels.filter((label) => !known?.has(label))).toEqual([]);
    }
  });

  test('looks at the chosen jobs only', () => {
    for (const { metric, labels } of selectors) {
      // The job of these is the gateway, whatever service made the span.
      if (metric !== SPANS) expect(labels).toContain('job');
    }
  });

  test('names its lines by labels that the query keeps', () => {
    const wanted = [...target.legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
    const aggregated = /^(?:sum|histogram_quantile)/.test(target.expr);
    const kept = [...target.expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(', '),
    );
    if (aggregated) expect(kept).toEqual(expect.arrayContaining(wanted));
  });
});

test('every metric of the registry is on a dashboard, but for those of durations of connections', () => {
  const shown = new Set(
    QUERIES.flatMap(({ target }) => selectorsOf(target.expr)).map(({ metric }) => family(metric)),
  );
  const missing = METRICS.map(metricName).filter((name) => !shown.has(name));
  expect(missing).toEqual([
    'event_stream_client_gaps_total',
    'event_stream_server_gaps_total',
    'event_stream_client_connection_duration',
    'event_stream_server_connection_duration',
  ]);
});

test('a query on what the registry does not have cannot be written', () => {
  expect(() => series('event_stream.client.reconnected')).toThrow('is no metric of the registry');
  expect(() => series('event_stream.migrations', { 'event_stream.reason': 'eof' })).toThrow(
    'event_stream.migrations has no attribute event_stream.reason',
  );
});

test('a broken query is noticed', () => {
  expect(() => selectorsOf('sum(rate(a{job=~"$job"}[5m])')).toThrow('no PromQL');
});
