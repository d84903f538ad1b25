import type {
  BatchObservableResult,
  Histogram,
  Meter,
  MetricOptions,
  Observable,
} from '@opentelemetry/api';
import { ValueType } from '@opentelemetry/api';
import { processWide } from '@sameriver/core';
import type { MetricDefinition } from './metric-definitions.ts';
import { METRICS } from './metric-definitions.ts';
import type { Series, SeriesTable, Tally } from './tally.ts';
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
  record(metric: MetricDefinition, labels: readonly string[], value: number): void;
  /** The source is exported no longer. */
  detach(): void;
}

interface Hub {
  readonly sources: Set<MetricSource>;
  readonly histograms: ReadonlyMap<string, Histogram>;
  start(): void;
  stop(): void;
}

/**
 * Two sources on one meter (one recorder for each role, say) would observe the same series twice,
 * and the SDK would keep the last one; so a meter has one hub, which adds them up.
 */
const HUBS = processWide('meters', () => new WeakMap<Meter, Hub>());

export function attach(meter: Meter, source: MetricSource): Instruments {
  const hub = HUBS.get(meter) ?? createHub(meter);
  HUBS.set(meter, hub);
  const { sources, histograms, start, stop } = hub;
  if (sources.size === 0) start();
  sources.add(source);
  return {
    record(metric, labels, value) {
      try {
        histograms.get(metric.name)?.record(value, labelled(metric, labels));
      } catch {
        source.failed();
      }
    },
    detach() {
      if (sources.delete(source) && sources.size === 0) stop();
    },
  };
}

function createHub(meter: Meter): Hub {
  const observables = new Map<MetricDefinition, Observable>();
  const histograms = new Map<string, Histogram>();
  for (const metric of METRICS) {
    if (metric.instrument === 'histogram') {
      histograms.set(metric.name, meter.createHistogram(metric.name, optionsOf(metric)));
    } else {
      observables.set(metric, createObservable(meter, metric));
    }
  }
  const sources = new Set<MetricSource>();
  const observe = (result: BatchObservableResult): void => {
    for (const source of sources) source.refresh();
    for (const [metric, observable] of observables) {
      const tables = [...sources].map(({ tally }) => tally.tables.get(metric.name));
      for (const { value, attributes } of summed(tables)) {
        result.observe(observable, value, attributes);
      }
    }
  };
  const instruments = [...observables.values()];
  return {
    sources,
    histograms,
    start: () => meter.addBatchObservableCallback(observe, instruments),
    stop: () => meter.removeBatchObservableCallback(observe, instruments),
  };
}

function createObservable(meter: Meter, metric: MetricDefinition): Observable {
  const options = optionsOf(metric);
  switch (metric.instrument) {
    case 'updowncounter':
      return meter.createObservableUpDownCounter(metric.name, options);
    case 'gauge':
      return meter.createObservableGauge(metric.name, options);
    default:
      return meter.createObservableCounter(metric.name, options);
  }
}

function optionsOf({ description, unit, instrument, boundaries }: MetricDefinition): MetricOptions {
  const options: MetricOptions = { description, unit };
  if (instrument !== 'histogram') return { ...options, valueType: ValueType.INT };
  return { ...options, advice: { explicitBucketBoundaries: [...boundaries] } };
}

function summed(tables: readonly (SeriesTable | undefined)[]): Iterable<Series> {
  const [first, ...others] = tables.filter((table) => table !== undefined);
  if (first === undefined) return [];
  if (others.length === 0) return first.values();
  const sums = new Map<string, Series>();
  for (const table of [first, ...others]) {
    for (const [key, { value, attributes }] of table) {
      sums.set(key, { attributes, value: (sums.get(key)?.value ?? 0) + value });
    }
  }
  return sums.values();
}
