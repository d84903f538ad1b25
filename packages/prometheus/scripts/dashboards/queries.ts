import type { MetricDefinition } from '@sameriver/telemetry';
import { METRICS } from '@sameriver/telemetry';
import { labelName, metricName } from '../../src/names.ts';

/** Values that labels must have: attribute to a value, or to a pattern in slashes. */
export type Where = Readonly<Record<string, string>>;

/** @throws TypeError for a name that is not in the registry. */
export function metric(name: string): MetricDefinition {
  const found = METRICS.find((each) => each.name === name);
  if (found === undefined) throw new TypeError(`${name} is no metric of the registry`);
  return found;
}

/** Selector of a counter or gauge in the jobs that the reader of a dashboard chose. */
export function series(name: string, where: Where = {}): string {
  const definition = metric(name);
  return `${metricName(definition)}{${matchersOf(definition, where)}}`;
}

// OTLP into Prometheus adds the unit to the name of a histogram, the exporters of Node do not.
const SUFFIXES: Readonly<Record<string, string>> = { s: '(_seconds)?', '1': '(_ratio)?' };

/** Selector of the buckets of a histogram, by whichever path it came. */
export function buckets(name: string, where: Where = {}): string {
  const definition = metric(name);
  const pattern = `${metricName(definition)}${SUFFIXES[definition.unit] ?? ''}_bucket`;
  const matchers = matchersOf(
    { ...definition, attributes: [...definition.attributes, 'le'] },
    where,
  );
  return `{__name__=~"${pattern}",${matchers}}`;
}

/**
 * Selector of the spans that the gateway of the recipe counts: one for each connect or accept span,
 * by attributes that are on spans alone.
 *
 * @param patterns Labels and what they must match.
 */
export function spans(patterns: Readonly<Record<string, string>>): string {
  const matchers = Object.entries(patterns).map(([label, pattern]) => `${label}=~"${pattern}"`);
  return `traces_span_metrics_streams_calls_total{${matchers.join(',')}}`;
}

function matchersOf({ name, attributes }: MetricDefinition, where: Where): string {
  const matchers = Object.entries(where).map(([attribute, value]) => {
    if (!attributes.includes(attribute)) {
      throw new TypeError(`${name} has no attribute ${attribute}`);
    }
    const [, pattern] = /^\/(.*)\/$/.exec(value) ?? [];
    const label = labelName(attribute);
    return pattern === undefined ? `${label}="${value}"` : `${label}=~"${pattern}"`;
  });
  return ['job=~"$job"', ...matchers].join(',');
}

/** Per second, over the interval that fits the picture. */
export function rate(selector: string): string {
  return `rate(${selector}[$__rate_interval])`;
}

/** How many in the time that is shown. */
export function inRange(selector: string): string {
  return `increase(${selector}[$__range])`;
}

/** How many in each interval of the picture: counts of what is rare are read more easily than rates. */
export function each(selector: string): string {
  return `increase(${selector}[$__rate_interval])`;
}

/** @param attributes What to tell apart. */
export function sum(expression: string, ...attributes: readonly string[]): string {
  if (attributes.length === 0) return `sum(${expression})`;
  return `sum by (${attributes.map(labelName).join(', ')}) (${expression})`;
}

export function quantile(share: number, name: string, ...attributes: readonly string[]): string {
  return `histogram_quantile(${share}, ${sum(rate(buckets(name)), 'le', ...attributes)})`;
}

/** Legend that shows the value of an attribute. */
export function legend(...attributes: readonly string[]): string {
  return attributes.map((attribute) => `{{${labelName(attribute)}}}`).join(' ');
}
