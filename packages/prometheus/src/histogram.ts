import type { Exemplar, MetricDefinition } from '@sameriver/telemetry';
import type { Labels, Sample } from './families.ts';
import { exemplarOf } from './families.ts';
import { metricName } from './names.ts';

interface Bucket {
  /** Its upper bound, inclusive. */
  readonly le: number;
  count: number;
  exemplar: Sample['exemplar'];
}

interface Series {
  readonly labels: Labels;
  /** In order, the last without a bound. */
  readonly buckets: readonly Bucket[];
  sum: number;
}

/** Measurements of one metric in the buckets that its definition names. */
export interface Histogram {
  observe(labels: Labels, value: number, exemplar: Exemplar | undefined): void;
  samples(): Sample[];
}

export function createHistogram(metric: MetricDefinition): Histogram {
  const name = metricName(metric);
  const bounds = [...metric.boundaries, Number.POSITIVE_INFINITY];
  const table = new Map<string, Series>();

  function seriesOf(labels: Labels): Series {
    const key = Object.values(labels).join('\n');
    const found = table.get(key);
    if (found !== undefined) return found;
    const buckets = bounds.map((le): Bucket => ({ le, count: 0, exemplar: undefined }));
    const created = { labels, buckets, sum: 0 };
    table.set(key, created);
    return created;
  }

  return {
    observe(labels, value, exemplar) {
      const series = seriesOf(labels);
      const bucket = series.buckets.find(({ le }) => value <= le);
      if (bucket === undefined) return;
      series.sum += value;
      bucket.count += 1;
      if (exemplar !== undefined) bucket.exemplar = exemplarOf({ ...exemplar, value });
    },
    samples: () => [...table.values()].flatMap((series) => samplesOf(name, series)),
  };
}

function samplesOf(name: string, { labels, buckets, sum }: Series): Sample[] {
  let count = 0;
  const lines = buckets.map(({ le, count: own, exemplar }): Sample => {
    count += own;
    const text = Number.isFinite(le) ? String(le) : '+Inf';
    return {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: text },
      value: count,
      ...(exemplar && { exemplar }),
    };
  });
  return [
    ...lines,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
