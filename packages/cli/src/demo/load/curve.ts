import type { Sample } from '../counters.ts';
import { LEVELS } from '../counters.ts';

/** Reconnects that fell into one stretch of load. */
export interface Stretch {
  /** Such as `0.2 to 0.3`, or a load level. */
  readonly name: string;
  readonly reconnects: number;
  readonly reoriginated: number;
}

const HISTOGRAM = 'event_stream_reconnect_event_loop_utilization_bucket';
const RECONNECTS = 'event_stream_server_reconnects_total';

/**
 * The curve that the histogram holds: reconnects by event-loop utilization, as servers judged them.
 * Buckets are cumulative, so each is what it adds to the one below. Stretches without reconnects are
 * left out.
 */
export function curveOf(samples: readonly Sample[]): Stretch[] {
  const all = bucketSums(samples, () => true);
  const lost = bucketSums(samples, (classification) => classification === 'reoriginated');
  const bounds = [...all.keys()].sort((a, b) => a - b);
  const stretches = bounds.map((bound, index) => {
    const below = index === 0 ? 0 : (bounds[index - 1] ?? 0);
    const added = (sums: ReadonlyMap<number, number>): number =>
      (sums.get(bound) ?? 0) - (index === 0 ? 0 : (sums.get(below) ?? 0));
    const name = `${below} to ${bound === Number.POSITIVE_INFINITY ? 1 : bound}`;
    return { name, reconnects: added(all), reoriginated: added(lost) };
  });
  return stretches.filter(({ reconnects }) => reconnects > 0);
}

function bucketSums(
  samples: readonly Sample[],
  counts: (classification: string) => boolean,
): Map<number, number> {
  const sums = new Map<number, number>();
  for (const { metric, labels, value } of samples) {
    if (metric !== HISTOGRAM || labels['event_stream_role'] !== 'server') continue;
    const bound = Number(labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : labels['le']);
    const counted = counts(labels['event_stream_classification'] ?? '') ? value : 0;
    sums.set(bound, (sums.get(bound) ?? 0) + counted);
  }
  return sums;
}

/** The same by load level, from the counter that alerts are written on. */
export function levelsOf(samples: readonly Sample[]): Stretch[] {
  return LEVELS.map((name) => {
    const here = samples.filter(
      ({ metric, labels }) => metric === RECONNECTS && labels['event_stream_load_level'] === name,
    );
    const lost = here.filter(
      ({ labels }) => labels['event_stream_classification'] === 'reoriginated',
    );
    return { name, reconnects: sumOf(here), reoriginated: sumOf(lost) };
  });
}

/** The sum of one metric, of those samples whose labels hold all of these. */
export function total(
  samples: readonly Sample[],
  metric: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const wanted = Object.entries(labels);
  return sumOf(
    samples.filter(
      (sample) =>
        sample.metric === metric && wanted.every(([name, text]) => sample.labels[name] === text),
    ),
  );
}

function sumOf(samples: readonly Sample[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0);
}

/** @returns 0 to 1; absent where nothing came back. */
export function ratio({ reconnects, reoriginated }: Stretch): number | undefined {
  return reconnects === 0 ? undefined : reoriginated / reconnects;
}
