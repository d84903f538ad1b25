import type { Attributes } from '@opentelemetry/api';
import { processWide } from '@sameriver/core';
import type { MetricDefinition } from './metric-definitions.ts';

/** Where an increase came from: a span that is sampled, and so can be looked up. */
export interface Exemplar {
  readonly traceId: string;
  readonly spanId: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
}

export interface SeriesExemplar extends Exemplar {
  /** The increase itself. */
  readonly value: number;
}

export interface MetricSeries {
  /** By their names in the registry. */
  readonly attributes: Attributes;
  readonly value: number;
  /** Of the last increase. */
  readonly exemplar?: SeriesExemplar | undefined;
}

/** Brings everything that is counted up to date and hands it out, the counts of one name once. */
export type CollectMetrics = () => ReadonlyMap<MetricDefinition, Iterable<MetricSeries>>;

/** Where metrics go that do not go to an OpenTelemetry meter, such as a registry of Prometheus. */
export interface MetricSink {
  /** There is something to export: `collect` is to be called whenever metrics are read. */
  start(collect: CollectMetrics): void;
  /** There is nothing any more. */
  stop(): void;
  /** One measurement for a histogram. */
  record(
    metric: MetricDefinition,
    attributes: Attributes,
    value: number,
    exemplar: Exemplar | undefined,
  ): void;
}

interface SinkBook {
  readonly sinks: Set<MetricSink>;
  /** Told of every change. */
  readonly listeners: Set<() => void>;
}

const BOOK = processWide<SinkBook>('metric-sinks', () => ({
  sinks: new Set(),
  listeners: new Set(),
}));

/**
 * Gives a sink the metrics of all recorders of this process, present and future, of those whose
 * option `metrics` allows it.
 *
 * @returns Takes it away again.
 */
export function addMetricSink(sink: MetricSink): () => void {
  BOOK.sinks.add(sink);
  tell();
  return () => {
    if (BOOK.sinks.delete(sink)) tell();
  };
}

export function metricSinks(): ReadonlySet<MetricSink> {
  return BOOK.sinks;
}

/** @returns Ends it. */
export function onSinkChange(listener: () => void): () => void {
  BOOK.listeners.add(listener);
  return () => void BOOK.listeners.delete(listener);
}

function tell(): void {
  for (const listener of BOOK.listeners) listener();
}
