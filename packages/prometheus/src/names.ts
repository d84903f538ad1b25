import type { MetricDefinition } from '@sameriver/telemetry';

/**
 * Name of a metric in Prometheus, as the exporter of the OpenTelemetry SDK for JavaScript prints it:
 * `_total` at a counter, and no unit. OTLP into Prometheus adds units (`_seconds`), but not those in
 * braces, which all counters and gauges have.
 */
export function metricName({ name, instrument }: MetricDefinition): string {
  return labelName(name) + (instrument === 'counter' ? '_total' : '');
}

/** Name of an attribute as a label. */
export function labelName(attribute: string): string {
  return attribute.replace(/[^a-z0-9_]/gi, '_').replace(/_{2,}/g, '_');
}
