import { processWide } from '@sameriver/core';
import type { CollectMetrics, MetricDefinition, MetricSink } from '@sameriver/telemetry';
import { addMetricSink, METRICS } from '@sameriver/telemetry';
import type { Family, Sample } from './families.ts';
import { createFamily, labelsOf, sampleOf } from './families.ts';
import type { Histogram } from './histogram.ts';
import { createHistogram } from './histogram.ts';

/** A `Registry` of `prom-client` 15 or `@prometheus-io/client`, as far as it is used. */
export interface PrometheusRegistry {
  registerMetric(metric: never): void;
  removeSingleMetric(name: string): void;
}

const BRIDGED = processWide('bridged-registries', () => new WeakMap<object, () => void>());

/**
 * Adds the metrics of all streams of this process to a registry that the service exposes already,
 * under the names and labels that the OpenTelemetry exporter for Prometheus would give them, from the
 * first scrape on. From then on they no longer go to the OpenTelemetry SDK, unless the option
 * `metrics` says `both` or `otel`.
 *
 * Exemplars (`trace_id`, `span_id`) are printed by a registry whose content type is OpenMetrics.
 *
 * @param registry Called again with the same one, nothing happens.
 * @returns Takes the metrics out again.
 * @throws TypeError for what is no registry.
 * @throws Error of the registry where another metric has one of the names.
 */
export function bridgeMetrics(registry: PrometheusRegistry): () => void {
  if (typeof registry?.registerMetric !== 'function') {
    throw new TypeError(
      'bridgeMetrics() expected a Registry of prom-client or @prometheus-io/client, such as its ' +
        `export "register", and got ${registry === null ? 'null' : typeof registry}`,
    );
  }
  const bridged = BRIDGED.get(registry);
  if (bridged !== undefined) return bridged;
  const { sink, families } = createSink();
  const names = register(registry, families);
  const removeSink = addMetricSink(sink);
  const remove = (): void => {
    if (!BRIDGED.delete(registry)) return;
    removeSink();
    for (const name of names) registry.removeSingleMetric(name);
  };
  BRIDGED.set(registry, remove);
  return remove;
}

/** All or none, so that who catches the error is left with a registry as it was. */
function register(registry: PrometheusRegistry, families: readonly Family[]): string[] {
  const names: string[] = [];
  try {
    for (const family of families) {
      const { name } = family;
      // Both libraries take whatever has these members; their types name classes alone.
      registry.registerMetric(family as never);
      names.push(name);
    }
    return names;
  } catch (error) {
    for (const name of names) registry.removeSingleMetric(name);
    throw error;
  }
}

function createSink(): { readonly sink: MetricSink; readonly families: readonly Family[] } {
  const histograms = new Map<string, Histogram>();
  let collect: CollectMetrics = () => new Map();
  let page: ReadonlyMap<string, readonly Sample[]> | undefined;

  // A registry asks all of its metrics in one turn, and they are to be of one moment.
  function read({ name }: MetricDefinition): readonly Sample[] {
    if (page === undefined) {
      page = pageOf(collect);
      queueMicrotask(() => {
        page = undefined;
      });
    }
    return page.get(name) ?? [];
  }

  const families = METRICS.map((metric) => {
    if (metric.instrument !== 'histogram') return createFamily(metric, () => read(metric));
    const histogram = createHistogram(metric);
    histograms.set(metric.name, histogram);
    return createFamily(metric, histogram.samples);
  });
  const sink: MetricSink = {
    start(next) {
      collect = next;
    },
    stop() {
      collect = () => new Map();
    },
    record({ name }, attributes, value, exemplar) {
      histograms.get(name)?.observe(labelsOf(attributes), value, exemplar);
    },
  };
  return { sink, families };
}

function pageOf(collect: CollectMetrics): Map<string, readonly Sample[]> {
  const metrics = [...collect()];
  return new Map(metrics.map(([{ name }, series]) => [name, [...series].map(sampleOf)]));
}
