import type { Attribute, Registry, Signal } from './registry.ts';

const HEAD = '// Generated from registry/event_stream.yaml by `pnpm run generate`. Do not edit.\n';
const WIDTH = 100;

/** Renders `src/names.ts`: names of attributes, spans and events, and their closed unions. */
export function renderNames(registry: Registry): string {
  const used = usedAttributes(registry);
  const ids = [...used.map(({ id }) => id), ...registry.foreign];
  return [
    HEAD,
    ids.map((id) => constant('ATTR', id)).join(''),
    spanConstants(registry),
    eventConstants(registry),
    enumUnions(used, registry.metrics),
  ].join('\n');
}

/** Renders `src/metric-definitions.ts`. */
export function renderMetrics(registry: Registry): string {
  const metrics = live(registry.metrics);
  const used = new Set(metrics.flatMap(({ references }) => references.map(({ ref }) => ref)));
  const ids = registry.attributes.map(({ id }) => id).filter((id) => used.has(id));
  const imports = ids.map((id) => `  ATTR_${upper(bare(id))},\n`).sort();
  const head = `${HEAD}import {\n${imports.join('')}} from './names.ts';\n`;
  const names = metrics.map(({ metric_name: name = '' }) => `  METRIC_${upper(bare(name))},\n`);
  const all = `export const METRICS: readonly MetricDefinition[] = [\n${names.join('')}];\n`;
  return [head, METRIC_TYPE, ...metrics.map(metricDefinition), all].join('\n');
}

// What only reserved signals refer to is documented, but no code may use it yet.
function usedAttributes({ attributes, spans, events, metrics }: Registry): readonly Attribute[] {
  const reserved = [...spans, ...events, ...metrics].filter((signal) => !isLive(signal));
  const used = new Set(refsOf(live([...spans, ...events, ...metrics])));
  const held = new Set(refsOf(reserved).filter((ref) => !used.has(ref)));
  return attributes.filter(({ id }) => !held.has(id));
}

function refsOf(signals: readonly Signal[]): readonly string[] {
  return signals.flatMap(({ references }) => references.map(({ ref }) => ref));
}

function spanConstants({ spans }: Registry): string {
  const names = live(spans).flatMap(({ annotations }) => annotations?.names ?? []);
  return names.map((name) => declare(`SPAN_${upper(name)}`, name)).join('');
}

function eventConstants({ events }: Registry): string {
  return live(events)
    .map(({ name = '' }) => constant('EVENT', name))
    .join('');
}

function enumUnions(attributes: readonly Attribute[], metrics: readonly Signal[]): string {
  const unions = attributes.flatMap((attribute) => {
    const members = membersOf(attribute);
    return members.length === 0 ? [] : [union(bare(attribute.id), members)];
  });
  for (const { metric_name: name = '', annotations } of metrics) {
    for (const values of Object.values(annotations?.values ?? {})) {
      unions.push(union(`${bare(name)}.reason`, values));
    }
  }
  return unions.join('\n');
}

function union(id: string, members: readonly string[]): string {
  const name = `${upper(id)}_VALUES`;
  const type = pascal(id);
  const lines = members.map((member) => `  '${member}',\n`).join('');
  const inline = `export const ${name} = [${members.map((member) => `'${member}'`).join(', ')}] as const;\n`;
  const list =
    inline.length <= WIDTH + 1 ? inline : `export const ${name} = [\n${lines}] as const;\n`;
  return `${list}export type ${type} = (typeof ${name})[number];\n`;
}

const METRIC_TYPE = `/** An instrument as the registry defines it. \`attributes\` is the order of its label values. */
export interface MetricDefinition {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly instrument: 'counter' | 'updowncounter' | 'gauge' | 'histogram';
  readonly attributes: readonly string[];
  /** Bucket boundaries of a histogram. */
  readonly boundaries: readonly number[];
}
`;

function metricDefinition(metric: Signal): string {
  const { metric_name: name = '', brief, unit, instrument, annotations, references } = metric;
  const attributes = references.map(({ ref }) => `ATTR_${upper(bare(ref))}`);
  return `export const METRIC_${upper(bare(name))}: MetricDefinition = {
  name: '${name}',
${property('description', quoted(brief))}  unit: '${unit}',
  instrument: '${instrument}',
${list('attributes', attributes)}${list('boundaries', annotations?.explicit_bucket_boundaries ?? [])}};
`;
}

function list(key: string, items: readonly (string | number)[]): string {
  const inline = `  ${key}: [${items.join(', ')}],\n`;
  if (inline.length <= WIDTH + 1) return inline;
  if (items.every((item) => typeof item === 'number')) return `  ${key}: [\n${filled(items)}  ],\n`;
  return `  ${key}: [\n${items.map((item) => `    ${item},\n`).join('')}  ],\n`;
}

// The formatter fills lines with numbers, where it gives other items a line each.
function filled(items: readonly number[]): string {
  const lines: string[] = [];
  let line = '   ';
  for (const item of items) {
    const next = `${line} ${item},`;
    if (next.length > WIDTH) lines.push(line);
    line = next.length > WIDTH ? `    ${item},` : next;
  }
  return [...lines, line].map((text) => `${text}\n`).join('');
}

function constant(prefix: string, id: string): string {
  return declare(`${prefix}_${upper(bare(id))}`, id);
}

function declare(name: string, value: string): string {
  return `export const ${name} = '${value}';\n`;
}

function property(key: string, value: string): string {
  const inline = `  ${key}: ${value},\n`;
  return inline.length <= WIDTH + 1 ? inline : `  ${key}:\n    ${value},\n`;
}

function quoted(text: string): string {
  return text.includes("'") ? `"${text}"` : `'${text}'`;
}

function membersOf({ type }: Attribute): readonly string[] {
  return typeof type === 'string' ? [] : type.members.map(({ value }) => value);
}

function live(signals: readonly Signal[]): readonly Signal[] {
  return signals.filter(isLive);
}

function isLive({ annotations }: Signal): boolean {
  return annotations?.reserved !== true;
}

function bare(id: string): string {
  return id.replace(/^event_stream\./, '');
}

function upper(id: string): string {
  return id.replace(/[. ]/g, '_').toUpperCase();
}

function pascal(id: string): string {
  return id.replace(/(?:^|[._ ])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
