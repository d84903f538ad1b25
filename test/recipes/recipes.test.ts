import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianPackageOrReason } from '@sameriver/testkit';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { agentConfig } from './agent-schema.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RECIPES = join(ROOT, 'docs/recipes');
const REGISTRY = readFileSync(join(ROOT, 'docs/telemetry.md'), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: what is read here is what is tested.
const read = (file: string): any => parse(readFileSync(join(RECIPES, file), 'utf8'));

const INSTALLING = 180_000;

describe('the compose file', () => {
  interface Service {
    readonly image: string;
    readonly network_mode: string;
    readonly volumes: readonly string[];
    readonly command?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
  }
  const services = read('compose.yaml').services as Readonly<Record<string, Service>>;

  test('starts what the page promises', () => {
    expect(Object.keys(services)).toEqual(['jaeger', 'prometheus', 'alertmanager', 'grafana']);
  });

  test.each(Object.entries(services))(
    '%s has a fixed version, and what it mounts is here',
    (_, service) => {
      expect(service.image).toMatch(/^[\w/-]+:v?\d+\.\d+\.\d+$/);
      for (const volume of service.volumes) {
        const [source = '', target, mode] = volume.split(':');
        expect(existsSync(resolve(RECIPES, source)), source).toBe(true);
        expect(target).toMatch(/^\/etc\//);
        expect(mode).toBe('ro');
      }
    },
  );

  test.each(Object.entries(services))('%s listens on this machine only', (_, service) => {
    expect(service.network_mode).toBe('host');
    const told = [...(service.command ?? []), ...Object.values(service.environment ?? {})];
    expect(told.some((word) => word.includes('127.0.0.1'))).toBe(true);
    expect(told.join(' ')).not.toContain('0.0.0.0');
  });

  test('Prometheus is given every rule and keeps exemplars', () => {
    const { command = [], volumes } = services['prometheus']!;
    expect(command).toContain('--enable-feature=exemplar-storage');
    const [pattern] = read('prometheus/prometheus.yml').rule_files as string[];
    const mount = volumes.find((volume) => volume.includes(':/etc/sameriver/rules:'));
    const folder = resolve(RECIPES, mount!.split(':')[0]!);
    const [, extension] = /^\/etc\/sameriver\/rules\/\*(\.\w+)$/.exec(pattern!) ?? [];
    const rules = readdirSync(folder);
    expect(rules.length).toBeGreaterThan(0);
    expect(rules.filter((file) => !file.endsWith(extension!))).toEqual([]);
  });

  test('Grafana is given every dashboard, and exemplars lead from Prometheus to Jaeger', () => {
    const [{ options }] = read('grafana/provisioning/dashboards/sameriver.yaml').providers;
    expect(services['grafana']!.volumes.join()).toContain(`dashboards:${options.path}:ro`);
    const { datasources } = read('grafana/provisioning/datasources/sameriver.yaml');
    const [prometheus, jaeger] = datasources;
    expect([prometheus.type, jaeger.type]).toEqual(['prometheus', 'jaeger']);
    expect(prometheus.jsonData.exemplarTraceIdDestinations).toEqual([
      { name: 'trace_id', datasourceUid: jaeger.uid },
    ]);
  });
});

test.for([
  {
    service: 'Prometheus',
    from: 'prometheus',
    tool: 'promtool',
    check: ['check', 'config', '--syntax-only', 'prometheus/prometheus.yml'],
  },
  {
    service: 'Alertmanager',
    from: 'prometheus-alertmanager',
    tool: 'amtool',
    check: ['check-config', 'alertmanager/alertmanager.yml'],
  },
])(
  '$service accepts its configuration',
  { timeout: INSTALLING },
  async ({ from, tool, check }, { skip }) => {
    const found = await debianPackageOrReason(from, tool);
    if ('absent' in found) skip(found.absent);
    else execFileSync(found.path, check, { cwd: RECIPES, stdio: 'pipe' });
  },
);

describe.each(['agent', 'gateway'])('the %s collector', (tier) => {
  const config = read(`collector/${tier}.yaml`);
  const kinds = ['receivers', 'processors', 'exporters'] as const;
  const named = (kind: string): string[] => Object.keys(config[kind] ?? {});
  const pipelines = Object.entries(
    config.service.pipelines as Record<string, Record<(typeof kinds)[number], string[]>>,
  );

  test('names in its pipelines what it configures, and nothing else', () => {
    const connectors = named('connectors');
    for (const kind of kinds) {
      const used = new Set(pipelines.flatMap(([, pipeline]) => pipeline[kind] ?? []));
      const bridges = kind === 'processors' ? [] : connectors;
      const defined = [...named(kind), ...bridges];
      expect([...used].filter((name) => !defined.includes(name))).toEqual([]);
      expect(defined.filter((name) => !used.has(name))).toEqual([]);
    }
  });

  test('limits its memory first in every pipeline that receives', () => {
    for (const [name, { receivers, processors }] of pipelines) {
      if (receivers.includes('otlp')) expect(processors[0], name).toBe('memory_limiter');
    }
  });

  test('uses attributes and values of the registry', () => {
    const text = readFileSync(join(RECIPES, `collector/${tier}.yaml`), 'utf8');
    for (const [name] of text.matchAll(/event_stream\.[a-z_.]+[a-z]/g)) {
      expect(REGISTRY).toContain(`\`${name}\``);
    }
  });
});

describe("the agent's schema", () => {
  const config = read('collector/agent.yaml');
  const limiter = config.processors.memory_limiter;
  const withLimiter = (memory_limiter: object): object => ({
    ...config,
    processors: { memory_limiter },
  });

  test('accepts its configuration', () => {
    expect(agentConfig.safeParse(config).error?.issues ?? []).toEqual([]);
  });

  test.each([
    ['a key that no component knows', { ...limiter, check_intervall: '1s' }],
    ['a number where a duration is due', { ...limiter, check_interval: 1 }],
    ['a share of more than all', { ...limiter, limit_percentage: 180 }],
  ])('refuses %s', (_, wrong) => {
    expect(agentConfig.safeParse(withLimiter(wrong)).success).toBe(false);
  });
});

describe('sampling', () => {
  const agent = read('collector/agent.yaml');
  const { tail_sampling: sampling } = read('collector/gateway.yaml').processors;

  test('sends both ends of a reconnect to one gateway', () => {
    expect(agent.exporters.loadbalancing.routing_key).toBe('traceID');
  });

  test('keeps by values that exist', () => {
    for (const { string_attribute: policy } of sampling.policies) {
      for (const value of policy?.values ?? []) expect(REGISTRY).toContain(`\`${value}\``);
    }
    expect(sampling.policies[0].string_attribute).toEqual({
      key: 'event_stream.classification',
      values: ['reoriginated', 'unverifiable'],
    });
  });

  test('decides after the decision timeout and the delay of an exporter', () => {
    const [, seconds] = /:-(\d+)s\}$/.exec(sampling.decision_wait) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(15 + 5);
  });

  test('makes no histogram of what carries a stream', () => {
    const { processors, connectors, service } = read('collector/gateway.yaml');
    expect(processors['filter/without_streams'].traces.span).toEqual([
      'attributes["event_stream.protocol.name"] != nil',
    ]);
    const { exporters, processors: steps } = service.pipelines['traces/latency'];
    expect([steps.at(-1), exporters]).toEqual(['filter/without_streams', ['spanmetrics']]);
    expect(connectors['spanmetrics/streams'].histogram).toEqual({ disable: true });
  });
});
