/** Of one figure over one run: the smallest and largest of its blocks, and the median of all. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

const BLOCKS = 5;

/**
 * A single slice is a few milliseconds and meets every interrupt of the machine; so the extremes
 * are those of five blocks of consecutive slices, each by its median.
 */
export function spreadOf(samples: readonly number[]): Spread {
  const blocks = samples.length >= 2 * BLOCKS ? BLOCKS : samples.length;
  const size = samples.length / blocks;
  const medians = Array.from({ length: blocks }, (_, i) =>
    median(samples.slice(Math.round(i * size), Math.round((i + 1) * size))),
  );
  return { min: Math.min(...medians), median: median(samples), max: Math.max(...medians) };
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Ratios within a round: what disturbs the machine disturbs both. */
export function ratios(samples: readonly number[], base: readonly number[]): number[] {
  return samples.map((value, i) => value / (base[i] ?? Number.NaN));
}

export function differences(samples: readonly number[], base: readonly number[]): number[] {
  return samples.map((value, i) => value - (base[i] ?? Number.NaN));
}
