import type { Attributes } from '@opentelemetry/api';
import type { MetricDefinition, MetricSeries, SeriesExemplar } from '@sameriver/telemetry';
import { countInstrumentationError } from '@sameriver/telemetry';
import { labelName, metricName } from './names.ts';

export type Labels = Readonly<Record<string, string>>;

/** One line of a page of metrics, as both client libraries take it. */
export interface Sample {
  /** Default: the name of the family. */
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
  /** Printed in the OpenMetrics format alone. */
  readonly exemplar?: {
    readonly labelSet: Labels;
    readonly value: number;
    /** Seconds since the epoch. */
    readonly timestamp: number;
  };
}

/** What a registry of prom-client asks of a metric. */
export interface Family {
  /** Written by the registry: in the OpenMetrics format a counter goes without its `_total`. */
  name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How the processes of a cluster are added up. */
  readonly aggregator: 'sum';
  get(): Promise<FamilyValues>;
  /** What the process counted stays counted. */
  reset(): void;
}

interface FamilyValues extends Pick<Family, 'name' | 'help' | 'type' | 'aggregator'> {
  readonly values: readonly Sample[];
}

/** @param read Asked whenever the registry is. */
export function createFamily(metric: MetricDefinition, read: () => readonly Sample[]): Family {
  const { instrument, description: help } = metric;
  const type = instrument === 'updowncounter' ? 'gauge' : instrument;
  const family: Family = {
    name: metricName(metric),
    help,
    type,
    aggregator: 'sum',
    get: () =>
      Promise.resolve({ name: family.name, help, type, aggregator: 'sum', values: safely(read) }),
    reset: () => {},
  };
  return family;
}

/** The page is the application's: what fails of ours is missing from it, and the rest stands. */
function safely(read: () => readonly Sample[]): readonly Sample[] {
  try {
    return read();
  } catch {
    countInstrumentationError('telemetry');
    return [];
  }
}

export function sampleOf({ attributes, value, exemplar }: MetricSeries): Sample {
  const labels = labelsOf(attributes);
  return exemplar === undefined
    ? { labels, value }
    : { labels, value, exemplar: exemplarOf(exemplar) };
}

export function labelsOf(attributes: Attributes): Labels {
  const entries = Object.entries(attributes);
  return Object.fromEntries(entries.map(([name, value]) => [labelName(name), String(value)]));
}

/** `trace_id` and `span_id`, the names that the specification of OpenTelemetry gives them. */
export function exemplarOf(exemplar: SeriesExemplar): NonNullable<Sample['exemplar']> {
  const { traceId, spanId, value, timestamp } = exemplar;
  return { labelSet: { trace_id: traceId, span_id: spanId }, value, timestamp };
}
