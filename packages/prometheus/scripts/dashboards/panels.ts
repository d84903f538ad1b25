import { PanelBuilder as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  StackingMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
} from '@grafana/grafana-foundation-sdk/common';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
// The classic form is the one that Grafana 10 reads as well as 13.
import {
  // biome-ignore lint/suspicious/noDeprecatedImports: see above.
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  FieldColorBuilder,
  FieldColorModeId,
  QueryVariableBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as Timeseries } from '@grafana/grafana-foundation-sdk/timeseries';
import { legend } from './queries.ts';

/** A dashboard with the variables that all have. */
export interface Board {
  /** Name of its file, and its uid. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly panels: readonly Builder<Panel>[];
}

export interface Query {
  readonly expr: string;
  /** Such as `{{event_stream_reason}}`. */
  readonly legend: string;
}

interface Look {
  readonly title: string;
  /** What it shows, and what to think of it. */
  readonly description: string;
  /** As Grafana names units. Default: a plain number. */
  readonly unit?: string;
  /** Of 24 columns. */
  readonly span?: number;
}

interface Lines extends Look {
  readonly queries: readonly Query[];
  /** Counts in bars upon each other instead of lines. */
  readonly bars?: boolean;
  /** Points that lead to the trace in Jaeger; counters of the registry bridge have them. */
  readonly exemplars?: boolean;
  readonly max?: number;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana puts the chosen data source in.
const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const HEIGHT = 8;

/** What means the same has the same colour everywhere. */
const COLOURS: ReadonlyArray<readonly [value: string, colour: string]> = [
  ['resumed', 'green'],
  ['reoriginated', 'red'],
  ['unverifiable', 'yellow'],
  ['refused', 'blue'],
  ['low', 'green'],
  ['elevated', 'orange'],
  ['high', 'red'],
  ['replayed', 'green'],
  ['lossy', 'red'],
];

const COLOURED = [
  'event_stream.classification',
  'event_stream.load.level',
  'event_stream.migration.outcome',
];

/** Values over time. */
export function lines({
  queries,
  bars = false,
  exemplars = false,
  ...look
}: Lines): Builder<Panel> {
  const panel = new Timeseries()
    .title(look.title)
    .description(look.description)
    .datasource(SOURCE)
    .unit(look.unit ?? 'short')
    .min(0)
    .span(look.span ?? 12)
    .height(HEIGHT)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .showPoints(VisibilityMode.Auto)
    .drawStyle(bars ? GraphDrawStyle.Bars : GraphDrawStyle.Line)
    .fillOpacity(bars ? 80 : 10);
  if (bars) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  if (look.max !== undefined) panel.max(look.max);
  for (const [index, query] of queries.entries()) {
    panel.withTarget(target(query, index).range().exemplar(exemplars));
  }
  if (queries.some((query) => COLOURED.map((name) => legend(name)).includes(query.legend))) {
    for (const [value, fixedColor] of COLOURS) {
      panel.overrideByName(value, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
    }
  }
  return panel;
}

/** One number for the time that is shown. */
export function number(look: Look & { readonly expr: string }): Builder<Panel> {
  return new Stat()
    .title(look.title)
    .description(look.description)
    .datasource(SOURCE)
    .unit(look.unit ?? 'short')
    .span(look.span ?? 4)
    .height(4)
    .decimals(look.unit === 'percentunit' ? 1 : 0)
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .withTarget(target({ expr: look.expr, legend: '' }, 0).instant());
}

/** Bars side by side, one for each query: a curve over something else than time. */
export function curve(look: Look & { readonly queries: readonly Query[] }): Builder<Panel> {
  const panel = new BarGauge()
    .title(look.title)
    .description(look.description)
    .datasource(SOURCE)
    .unit(look.unit ?? 'short')
    .min(0)
    .max(1)
    .span(look.span ?? 24)
    .height(HEIGHT)
    .orientation(VizOrientation.Vertical)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor('red'))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
  for (const [index, query] of look.queries.entries()) {
    panel.withTarget(target(query, index).instant());
  }
  return panel;
}

function target({ expr, legend: name }: Query, index: number): DataqueryBuilder {
  return new DataqueryBuilder()
    .datasource(SOURCE)
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expr)
    .legendFormat(name);
}

/** The dashboard in the form that Grafana 10 and later import and provision. */
export function dashboardOf({ name, title, description, panels }: Board): DashboardBuilder {
  const builder = new DashboardBuilder(`Same River / ${title}`)
    .uid(`sameriver-${name}`)
    .description(description)
    .tags(['same-river'])
    .editable()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-3h', to: 'now' })
    .refresh('30s')
    .withVariable(
      new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'),
    )
    .withVariable(
      new QueryVariableBuilder('job')
        .label('Job')
        .datasource(SOURCE)
        .query('label_values({__name__=~"event_stream_(client|server)_reconnects_total"}, job)')
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .multi(true)
        .includeAll(true)
        .allValue('.*'),
    );
  for (const panel of panels) builder.withPanel(panel);
  return builder;
}
