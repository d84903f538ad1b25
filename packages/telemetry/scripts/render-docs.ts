import type { Attribute, Reference, Registry, Signal } from './registry.ts';

const INTRO = `# Telemetry

<!-- Generated from packages/telemetry/registry/event_stream.yaml by \`pnpm run generate\`. Do not edit. -->

Everything here is in the namespace \`event_stream\`; what OpenTelemetry already names is reused
(\`http.*\`, \`url.*\` without query, \`server.*\`, \`network.*\`, \`error.type\`). Stability: development.
`;

const SPANS = `## Spans

Twenty reconnects are twenty short traces, linked backwards. Every span ends at the verdict, while
its stream is still open, so that it can be seen while it matters.
`;

const EVENTS = `## Events

Log records of the Logs API, with trace and span id, limited for each stream; span events on
request. Where no logger provider is set there are none.
`;

const METRICS = `## Metrics

Label sets are closed and exist with value 0 before anything happens, so that the first occurrence
is an increase. No label ever holds a cursor, an epoch, a session, a path or a raw close code.
Counters are read from plain integers when metrics are collected, so what happened before an SDK
was started is not lost; histograms are.

Counters keep one name on every path. A histogram in seconds is \`…_seconds_bucket\` through OTLP and
\`…_bucket\` through the Prometheus exporter of OpenTelemetry JS.
`;

/** Renders `docs/telemetry.md`. */
export function renderDocs(registry: Registry): string {
  return [
    INTRO,
    SPANS,
    ...registry.spans.map(span),
    EVENTS,
    ...registry.events.map(event),
    METRICS,
    metricTable(registry.metrics),
    ...registry.metrics.map(metric),
    '## Attributes\n',
    attributeTable(registry.attributes),
    ...registry.attributes.flatMap(members),
  ].join('\n');
}

function span(signal: Signal): string {
  const names = (signal.annotations?.names ?? []).map(code).join(', ');
  const kind = (signal.span_kind ?? '').toUpperCase();
  return `### ${names}\n\nKind ${kind}. ${afterColon(signal.brief)}${note(signal)}\n${references(signal)}`;
}

function event(signal: Signal): string {
  return `### ${code(signal.name ?? '')}\n\n${signal.brief}${note(signal)}\n${references(signal)}`;
}

function metric(signal: Signal): string {
  const buckets = signal.annotations?.explicit_bucket_boundaries ?? [];
  const told = buckets.length === 0 ? '' : `\nBuckets: ${buckets.join(', ')}.\n`;
  const name = signal.metric_name ?? '';
  return `### ${code(name)}\n\n${signal.brief}${note(signal)}\n${told}${references(signal)}`;
}

function references({ references: all }: Signal): string {
  if (all.length === 0) return '';
  return `\n${table(
    ['attribute', ''],
    all.map((one) => [code(one.ref), level(one)]),
  )}`;
}

function level({ requirement_level: wanted }: Reference): string {
  return typeof wanted === 'string' ? wanted : wanted.conditionally_required;
}

function metricTable(metrics: readonly Signal[]): string {
  const rows = metrics.map(({ metric_name: name = '', instrument = '', unit = '' }) => {
    return [code(name), `${instrument} ${code(unit)}`, code(prometheusName(name, instrument))];
  });
  return table(['metric', 'type, unit', 'in Prometheus'], rows);
}

function prometheusName(name: string, instrument: string): string {
  const base = name.replaceAll('.', '_');
  if (instrument === 'counter') return `${base}_total`;
  return instrument === 'histogram' ? `${base}…` : base;
}

function attributeTable(attributes: readonly Attribute[]): string {
  const rows = attributes.map((attribute) => {
    const { id, type, brief, note: more = '', examples = [] } = attribute;
    const kind = typeof type === 'string' ? type : 'enum';
    const told = examples.map(exampleOf).join(', ');
    const shown = told === '' ? '' : ` For example ${told}.`;
    return [code(id), kind, `${brief}${more === '' ? '' : ` ${more}`}${shown}`];
  });
  return table(['attribute', 'type', ''], rows);
}

function members({ id, type }: Attribute): string[] {
  if (typeof type === 'string') return [];
  const rows = type.members.map(({ value, brief }) => [code(value), brief]);
  return [`### Values of ${code(id)}\n`, table(['value', ''], rows)];
}

/** Columns are padded, because that is how the formatter of this repository keeps tables. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, ...[head, ...rows].map((row) => (row[column] ?? '').length), title.length),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |\n`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return `${line(head)}${rule}${rows.map(line).join('')}`;
}

function note({ note: text }: Signal): string {
  return text === undefined ? '' : ` ${text}`;
}

function exampleOf(value: unknown): string {
  return code(String(value));
}

// A span's brief begins with its names, which are the heading here.
function afterColon(brief: string): string {
  const rest = brief.slice(brief.indexOf(': ') + 2);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function code(text: string): string {
  return `\`${text}\``;
}
