import type {
  BatchObservableCallback,
  Histogram,
  Meter,
  MetricOptions,
  Observable,
} from '@opentelemetry/api';
import { ValueType } from '@opentelemetry/api';
import type { MetricDefinition } from './metric-definitions.ts';
import { METRICS } from './metric-definitions.ts';
import type { MetricSink } from './metric-sink.ts';

/** An OpenTelemetry meter as a sink. The SDK keeps no exemplars, so they end here. */
export function meterSink(meter: Meter): MetricSink {
  const observables = new Map<string, Observable>();
  const histograms = new Map<string, Histogram>();
  for (const metric of METRICS) {
    if (metric.instrument === 'histogram') {
      histograms.set(metric.name, meter.createHistogram(metric.name, optionsOf(metric)));
    } else {
      observables.set(metric.name, createObservable(meter, metric));
    }
  }
  const instruments = [...observables.values()];
  let callback: BatchObservableCallback | undefined;
  return {
    start(collect) {
      callback = (result) => {
        for (const [metric, series] of collect()) {
          const observable = observables.get(metric.name);
          if (observable === undefined) continue;
          for (const { value, attributes } of series) result.observe(observable, value, attributes);
        }
      };
      meter.addBatchObservableCallback(callback, instruments);
    },
    stop() {
      if (callback !== undefined) meter.removeBatchObservableCallback(callback, instruments);
    },
    record(metric, attributes, value) {
      histograms.get(metric.name)?.record(value, attributes);
    },
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
