import type { TopLevelSpec } from 'vega-lite';

/** What a panel of a dashboard shows, after its queries were answered. */
export interface DrawnPanel {
  readonly title: string;
  /** Of Grafana: `timeseries`, `bargauge`, `stat`. */
  readonly type: string;
  readonly percent: boolean;
  readonly bars: boolean;
  /** In columns of 24. */
  readonly width: number;
  /** Of lines that have one of their own. */
  readonly colours: ReadonlyMap<string, string>;
  readonly points: readonly Point[];
}

export interface Point {
  readonly line: string;
  /** Seconds since the beginning of the picture. */
  readonly at: number;
  readonly value: number;
}

type Part = Record<string, unknown>;

const COLUMN = 50;
const GAP = 70;

/**
 * One picture of a dashboard: its panels in rows, as Grafana lays them out.
 *
 * @param length Of the time it shows, in seconds.
 */
export function pictureOf(
  title: string,
  rows: readonly (readonly DrawnPanel[])[],
  length: number,
): TopLevelSpec {
  const resolve = { scale: { color: 'independent' }, legend: { color: 'independent' } };
  const spec: Part = {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: 'white',
    padding: 16,
    title: { text: title, anchor: 'start', fontSize: 18, offset: 16 },
    vconcat: rows.map((panels) => ({
      hconcat: panels.map((panel) => partOf(panel, length)),
      spacing: GAP,
      bounds: 'flush',
      resolve,
    })),
    spacing: 24,
    resolve,
    config: {
      font: 'DejaVu Sans, sans-serif',
      view: { stroke: null },
      axis: { gridColor: '#eee', labelColor: '#444', domainColor: '#999' },
      legend: { orient: 'bottom', columns: 3, symbolType: 'square', labelLimit: 260, title: null },
    },
  };
  return spec as unknown as TopLevelSpec;
}

function partOf(panel: DrawnPanel, length: number): Part {
  const width = panel.width * COLUMN - GAP;
  const title = { text: panel.title, anchor: 'start', frame: 'group', fontSize: 12 };
  const frame = { title, width };
  const { type, percent: isShare, points } = panel;
  if (points.length === 0) {
    return {
      ...frame,
      height: 60,
      data: { values: [{}] },
      ...text('nothing of this happened', 12),
    };
  }
  if (type === 'stat') {
    const value = points.at(-1)?.value ?? 0;
    const number = isShare ? percent(value) : String(Math.round(value));
    return { ...frame, height: 40, data: { values: [{}] }, ...text(number, 26) };
  }
  const part = type === 'bargauge' ? gauge(panel) : graph(panel, length);
  return { ...frame, height: 150, data: { values: points }, ...part };
}

function text(words: string, size: number): Part {
  return { mark: { type: 'text', fontSize: size, text: words, align: 'center', color: '#333' } };
}

function gauge({ percent: isShare }: DrawnPanel): Part {
  const format = isShare ? { format: '.0%' } : {};
  const x = { field: 'line', type: 'nominal', sort: null, axis: { title: null, labelAngle: 0 } };
  const y = {
    field: 'value',
    type: 'quantitative',
    scale: { domain: [0, 1] },
    axis: { title: null, ...format },
  };
  return {
    layer: [
      { mark: { type: 'bar', color: '#d62728' }, encoding: { x, y } },
      {
        mark: { type: 'text', dy: -7, fontSize: 11 },
        encoding: { x, y, text: { field: 'value', type: 'quantitative', ...format } },
      },
    ],
  };
}

function graph({ percent: isShare, bars, colours, points }: DrawnPanel, length: number): Part {
  const axis = { title: null, tickCount: 4, ...(isShare && { format: '.0%' }) };
  const names = [...new Set(points.map(({ line }) => line))].sort();
  const own = names.map((name) => colours.get(name));
  const scale = own.some((colour) => colour === undefined) ? {} : { domain: names, range: own };
  return {
    mark: bars ? { type: 'bar', width: 6 } : { type: 'line', point: { size: 14 } },
    encoding: {
      x: {
        field: 'at',
        type: 'quantitative',
        scale: { domain: [0, length] },
        axis: { title: null, labelExpr: "datum.label + ' s'", grid: false },
      },
      y: { field: 'value', type: 'quantitative', axis, ...(bars && { stack: true }) },
      color: { field: 'line', type: 'nominal', scale, legend: {} },
    },
  };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
