import { readdirSync, readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { METRICS } from '@sameriver/telemetry';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as telemetry from '../../telemetry/src/names.ts';
import { FOLDER, PROMTOOLS, promtool } from '../test/promtool.ts';
import { labelName, metricName } from './names.ts';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

function rulesOf(file: string): readonly Rule[] {
  const { groups } = parse(readFileSync(`${FOLDER}rules/${file}.yaml`, 'utf8')) as {
    readonly groups: ReadonlyArray<{ readonly rules: readonly Rule[] }>;
  };
  return groups.flatMap(({ rules }) => rules);
}

const RECORDED = rulesOf('recording');
const ALERTS = rulesOf('alerts');
const ALERT_NAMES = [...new Set(ALERTS.map(({ alert = '' }) => alert))];
const TESTS = readdirSync(`${FOLDER}tests`);

describe('promtool', () => {
  test.for(PROMTOOLS)(
    'of $name: the rules are sound and all their tests pass',
    {
      timeout: 240_000,
    },
    async ({ find }, { skip }) => {
      const found = await find();
      if ('absent' in found) return skip(found.absent);
      const rules = ['recording', 'alerts'].map((name) => `rules/${name}.yaml`);
      const said = await promtool(found.path, 'check', 'rules', ...rules);
      for (const { length } of [RECORDED, ALERTS]) {
        expect(said).toContain(`SUCCESS: ${length} rules found`);
      }
      await promtool(found.path, 'test', 'rules', ...TESTS.map((name) => `tests/${name}`));
    },
  );

  test('has a file of tests for each alert: fires, does not, first, reset, missing', () => {
    expect(TESTS.sort()).toEqual(ALERT_NAMES.map((name) => `${name}.yaml`).sort());
    for (const file of TESTS) {
      const { tests } = parse(readFileSync(`${FOLDER}tests/${file}`, 'utf8')) as {
        readonly tests: ReadonlyArray<{ readonly name: string }>;
      };
      const names = tests.map(({ name }) => name).join('\n');
      for (const what of [/^fires/m, /does not fire/, /first/, /anew/, /missing|never were/]) {
        expect(names, file).toMatch(what);
      }
    }
  });
});

// ---------------------------------------------------------------------------------------------

const ADDED = ['job', 'instance', 'le'];
const LABELS = new Map<string, ReadonlySet<string>>(
  METRICS.flatMap((metric) => {
    const labels = new Set([...metric.attributes.map(labelName), ...ADDED]);
    const name = metricName(metric);
    const names =
      metric.instrument === 'histogram'
        ? ['_bucket', '_sum', '_count'].map((s) => name + s)
        : [name];
    return names.map((each) => [each, labels] as const);
  }),
);
const KNOWN_LABELS = new Set([...LABELS.values()].flatMap((labels) => [...labels]));
const RECORDS = new Set(RECORDED.map(({ record }) => record));

/** Values that the registry lists for a label: `event_stream_load_level` has those of LOAD_LEVEL_VALUES. */
function valuesOf(label: string): readonly string[] | undefined {
  const lists: Readonly<Record<string, unknown>> = { ...telemetry };
  const constant = label.replace('event_stream_', '').toUpperCase();
  const list = lists[`${constant}_VALUES`];
  if (!Array.isArray(list)) return undefined;
  // The reasons of failures are listed apart.
  return constant === 'REASON'
    ? [...list, ...telemetry.INSTRUMENTATION_ERRORS_REASON_VALUES]
    : list;
}

interface Used {
  readonly metrics: Array<{ readonly name: string; readonly labels: string[] }>;
  readonly values: Array<readonly [label: string, value: string]>;
  readonly grouped: string[];
}

function usedIn(expr: string): Used {
  const used: Used = { metrics: [], values: [], grouped: [] };
  parser.parse(expr).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${expr}`);
      const text = expr.slice(from, to);
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') {
        used.metrics.push({ name: text, labels: [] });
      }
      if (type.name === 'LabelName' && node.parent?.name === 'GroupingLabels')
        used.grouped.push(text);
      if (type.name !== 'UnquotedLabelMatcher') return;
      const [, label = '', value = ''] = /^(\w+)\s*(?:=~|!~|!=|=)\s*"(.*)"$/.exec(text) ?? [];
      used.metrics.at(-1)?.labels.push(label);
      for (const each of value.split('|')) used.values.push([label, each]);
    },
  });
  return used;
}

describe.each([...RECORDED, ...ALERTS])('$record$alert', ({ expr, labels = {}, annotations }) => {
  const { metrics, values, grouped } = usedIn(expr);

  test('names metrics, labels and values of the registry alone', () => {
    expect(metrics.length).toBeGreaterThan(0);
    for (const { name, labels: matched } of metrics) {
      if (RECORDS.has(name)) continue;
      expect(LABELS.has(name), name).toBe(true);
      expect(matched.filter((label) => !LABELS.get(name)?.has(label))).toEqual([]);
    }
    expect(grouped.filter((label) => !KNOWN_LABELS.has(label))).toEqual([]);
    for (const [label, value] of values) expect(valuesOf(label), label).toContain(value);
    const own = Object.keys(labels).filter((label) => label.startsWith('event_stream_'));
    for (const label of own) expect(valuesOf(label)).toContain(labels[label]);
    const told = Object.values(annotations ?? {}).join(' ');
    const used = [...told.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    expect(used.filter((label) => !KNOWN_LABELS.has(label))).toEqual([]);
  });
});

describe.each(ALERTS)('$alert', ({ alert = '', labels, annotations, ...rule }) => {
  test('says how bad it is, what it is, and where to read on', () => {
    expect(['critical', 'warning', 'info']).toContain(labels?.['severity']);
    expect(annotations?.['summary']).toMatch(/^[A-Z][^{]*\.$/);
    expect(annotations?.['description']).toMatch(/\{\{ \$labels\.job \}\}.{40}/);
    expect(annotations?.['runbook_url']).toBe(
      `https://unpkg.com/@sameriver/prometheus/runbooks/${alert}.md`,
    );
    expect(rule.for).toMatch(/^\d+[mh]$/);
  });
});

test('every alert has a runbook, and no runbook is left over', () => {
  const files = readdirSync(`${FOLDER}runbooks`).sort();
  expect(files).toEqual(ALERT_NAMES.map((name) => `${name}.md`).sort());
});

describe.each(ALERT_NAMES)('the runbook of %s', (name) => {
  const text = readFileSync(`${FOLDER}runbooks/${name}.md`, 'utf8');

  test('has its four sections', () => {
    const headings = [...text.matchAll(/^##? (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([name, 'Meaning', 'Impact', 'Diagnosis', 'Mitigation']);
  });

  test('gives a search for Jaeger, in attributes and values of the registry', () => {
    const diagnosis = text.slice(text.indexOf('## Diagnosis'), text.indexOf('## Mitigation'));
    expect(diagnosis).toContain('In Jaeger, with the service');
    const tags = [...diagnosis.matchAll(/(event_stream[.\w]+)=(\w+)/g)];
    if (name !== 'EventStreamTelemetryAbsent') expect(tags.length).toBeGreaterThan(0);
    for (const [, attribute = '', value = ''] of tags) {
      expect(Object.values<unknown>(telemetry)).toContain(attribute);
      const listed = valuesOf(labelName(attribute));
      if (value !== 'true') expect(listed, attribute).toContain(value);
    }
    for (const [, attribute = ''] of text.matchAll(/`(event_stream\.[.\w]+)`/g)) {
      expect(Object.values<unknown>(telemetry)).toContain(attribute);
    }
  });

  test('queries what the registry or our own rules have', () => {
    for (const [, query = ''] of text.matchAll(/```promql\n([\s\S]*?)```/g)) {
      const unknown = usedIn(query).metrics.filter(
        ({ name: metric }) => !LABELS.has(metric) && !RECORDS.has(metric) && metric !== 'up',
      );
      expect(unknown, query).toEqual([]);
    }
    for (const [, metric = ''] of text.matchAll(/`(event_stream_(?:client|server)_\w+)`/g)) {
      const found = LABELS.has(metric) || LABELS.has(`${metric}_bucket`);
      expect(found, metric).toBe(true);
    }
  });
});
