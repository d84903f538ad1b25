import type { Attributes } from '@opentelemetry/api';
import type { MetricDefinition } from './metric-definitions.ts';
import type { Exemplar, SeriesExemplar } from './metric-sink.ts';

interface Series {
  readonly attributes: Attributes;
  value: number;
  /** Of the last increase that had one. */
  exemplar?: SeriesExemplar;
}

/** Series of one instrument by their label values. */
export type SeriesTable = ReadonlyMap<string, Series>;

/**
 * Counts as plain integers, read when metrics are collected. An `add` of the metrics API costs
 * half a microsecond and 1.4 KB of garbage, and is lost when no SDK is there yet; this is neither.
 */
export interface Tally {
  /** @param labels Values in the order of `metric.attributes`. */
  add(metric: MetricDefinition, labels: readonly string[], by: number, exemplar?: Exemplar): void;
  set(metric: MetricDefinition, labels: readonly string[], value: number): void;
  /** Sets every series of an instrument to 0. */
  clear(metric: MetricDefinition): void;
  /** By the name of the metric: copies of this code in one process share a meter, not objects. */
  readonly tables: ReadonlyMap<string, SeriesTable>;
}

export function createTally(): Tally {
  const tables = new Map<string, Map<string, Series>>();

  function series(metric: MetricDefinition, labels: readonly string[]): Series {
    const table = tables.get(metric.name) ?? new Map<string, Series>();
    if (table.size === 0) tables.set(metric.name, table);
    const key = labels.join('\n');
    const found = table.get(key);
    if (found !== undefined) return found;
    const created = { attributes: labelled(metric, labels), value: 0 };
    table.set(key, created);
    return created;
  }

  return {
    tables,
    add(metric, labels, by, exemplar) {
      const one = series(metric, labels);
      one.value += by;
      if (exemplar !== undefined) one.exemplar = { ...exemplar, value: by };
    },
    set(metric, labels, value) {
      series(metric, labels).value = value;
    },
    clear(metric) {
      for (const one of tables.get(metric.name)?.values() ?? []) one.value = 0;
    },
  };
}

/** The same tally; what is added to it leaves this exemplar on its series. */
export function traced(tally: Tally, exemplar: Exemplar): Tally {
  return { ...tally, add: (metric, labels, by) => tally.add(metric, labels, by, exemplar) };
}

/** Metric attributes of `labels`, whose order is that of `metric.attributes`. */
export function labelled(metric: MetricDefinition, labels: readonly string[]): Attributes {
  const attributes: Attributes = {};
  metric.attributes.forEach((name, index) => {
    attributes[name] = labels[index];
  });
  return attributes;
}
