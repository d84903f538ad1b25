import type { DrawnPanel, Point } from './panel-spec.ts';
import type { Answer, Prometheus } from './prometheus-server.ts';

/** A dashboard as its file has it, as far as a picture needs it. */
export interface Dashboard {
  readonly title: string;
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly y: number; readonly w: number };
  readonly fieldConfig: {
    readonly defaults: {
      readonly unit: string;
      readonly custom?: { readonly drawStyle?: string };
    };
    readonly overrides?: readonly Override[];
  };
  readonly targets: readonly Target[];
}

interface Override {
  readonly matcher: { readonly options: string };
  readonly properties: ReadonlyArray<{ readonly value: { readonly fixedColor: string } }>;
}

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant?: boolean;
}

/** The time that a picture shows, in seconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Seconds; scrapes are half a second apart. */
const RATE_INTERVAL = 4;
/** Enough bars for a short time, and not too many for a long one. */
const STEPS = 30;

/** Of Grafana's names. */
const COLOURS: Readonly<Record<string, string>> = {
  green: '#56a64b',
  red: '#d62728',
  yellow: '#e0b400',
  blue: '#3274d9',
  orange: '#ff780a',
};

/** Asks Prometheus for everything that a dashboard shows; panels come in the rows of their layout. */
export async function answered(
  { panels }: Dashboard,
  prometheus: Prometheus,
  span: Span,
): Promise<DrawnPanel[][]> {
  const rows = new Map<number, DrawnPanel[]>();
  for (const panel of panels) {
    const row = rows.get(panel.gridPos.y) ?? [];
    row.push(await panelOf(panel, prometheus, span));
    rows.set(panel.gridPos.y, row);
  }
  return [...rows.values()];
}

async function panelOf(panel: Panel, prometheus: Prometheus, span: Span): Promise<DrawnPanel> {
  const { title, type, gridPos, targets } = panel;
  const { defaults, overrides = [] } = panel.fieldConfig;
  const answers = await Promise.all(targets.map((target) => pointsOf(target, prometheus, span)));
  const bars = defaults.custom?.drawStyle === 'bars';
  const points = answers.flat();
  // Every kind has its series from the start, at zero; what never happened needs no legend.
  const happened = new Set(points.filter(({ value }) => value !== 0).map(({ line }) => line));
  return {
    title,
    type,
    percent: defaults.unit === 'percentunit',
    bars,
    width: gridPos.w,
    colours: new Map(
      overrides.map(({ matcher, properties: [property] }) => [
        matcher.options,
        COLOURS[property?.value.fixedColor ?? ''] ?? 'grey',
      ]),
    ),
    points: type === 'timeseries' ? points.filter(({ line }) => happened.has(line)) : points,
  };
}

async function pointsOf(target: Target, prometheus: Prometheus, span: Span): Promise<Point[]> {
  const length = Math.ceil(span.to - span.from);
  const expr = target.expr
    .replaceAll('$__rate_interval', `${RATE_INTERVAL}s`)
    .replaceAll('$__range', `${length}s`)
    .replaceAll('$job', '.*');
  const answers = target.instant
    ? await prometheus.query(expr, span.to)
    : await prometheus.queryRange(expr, span.from, span.to, Math.ceil(length / STEPS));
  return answers.flatMap((answer) => {
    const line = lineOf(target.legendFormat, answer.metric);
    return answer.values
      .map(([at, value]) => ({ line, at: Math.round(at - span.from), value: Number(value) }))
      .filter(({ value }) => Number.isFinite(value));
  });
}

function lineOf(legend: string, metric: Answer['metric']): string {
  return legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '');
}
