import type { Meter } from '@opentelemetry/api';
import { processWide } from '@sameriver/core';
import { meterSink } from './meter-sink.ts';
import type { MetricDefinition } from './metric-definitions.ts';
import { METRICS } from './metric-definitions.ts';
import type { Exemplar, MetricSeries, MetricSink } from './metric-sink.ts';
import { replayWindowSeries } from './replay-windows.ts';
import type { SeriesTable, Tally } from './tally.ts';
import { labelled } from './tally.ts';

/** Something whose counts are exported. */
export interface MetricSource {
  readonly tally: Tally;
  /** Brings the tally up to date; called before every collection. */
  refresh(): void;
  /** Counts what an instrument of the SDK throws. */
  failed(): void;
}

export interface Instruments {
  /** @param labels Values in the order of `metric.attributes`. */
  record(
    metric: MetricDefinition,
    labels: readonly string[],
    value: number,
    exemplar?: Exemplar,
  ): void;
}

export interface Attachment extends Instruments {
  /** The source is exported no longer. */
  detach(): void;
}

interface Hub {
  readonly sink: MetricSink;
  readonly sources: Set<MetricSource>;
}

/**
 * Two sources on one meter or sink (one recorder for each role, say) would export the same series
 * twice, and the SDK would keep the last one; so each has one hub, which adds them up.
 */
const HUBS = processWide('meters', () => new WeakMap<object, Hub>());

/** Exports a source through a meter. */
export function attach(meter: Meter, source: MetricSource): Attachment {
  return join(meter, () => meterSink(meter), source);
}

/** Exports a source through a sink. */
export function attachSink(sink: MetricSink, source: MetricSource): Attachment {
  return join(sink, () => sink, source);
}

function join(key: object, create: () => MetricSink, source: MetricSource): Attachment {
  const hub = HUBS.get(key) ?? { sink: create(), sources: new Set<MetricSource>() };
  HUBS.set(key, hub);
  const { sink, sources } = hub;
  sources.add(source);
  if (sources.size === 1) sink.start(() => collect(sources));
  return {
    record(metric, labels, value, exemplar) {
      try {
        sink.record(metric, labelled(metric, labels), value, exemplar);
      } catch {
        source.failed();
      }
    },
    detach() {
      if (sources.delete(source) && sources.size === 0) sink.stop();
    },
  };
}

function collect(
  sources: ReadonlySet<MetricSource>,
): Map<MetricDefinition, Iterable<MetricSeries>> {
  for (const source of sources) source.refresh();
  // Of the process and of no source: two sources would add one window up to two.
  const windows = replayWindowSeries(() => [...sources][0]?.failed());
  const found = new Map<MetricDefinition, Iterable<MetricSeries>>();
  for (const metric of METRICS) {
    if (metric.instrument === 'histogram') continue;
    const tables = [...sources].flatMap(({ tally }) => tally.tables.get(metric.name) ?? []);
    found.set(metric, windows.get(metric.name) ?? summed(tables));
  }
  return found;
}

function summed([first, ...others]: readonly SeriesTable[]): Iterable<MetricSeries> {
  if (first === undefined) return [];
  if (others.length === 0) return first.values();
  const sums = new Map<string, MetricSeries>();
  for (const table of [first, ...others]) {
    for (const [key, { value, attributes, exemplar }] of table) {
      const sum = sums.get(key);
      const total = (sum?.value ?? 0) + value;
      sums.set(key, { attributes, value: total, exemplar: exemplar ?? sum?.exemplar });
    }
  }
  return sums.values();
}
