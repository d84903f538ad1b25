import { countError, zeroErrors } from './counts.ts';
import type { Outlets } from './outlets.ts';
import { createOutlets } from './outlets.ts';
import type { Tally } from './tally.ts';
import { createTally } from './tally.ts';
import type { InstrumentationErrorReason, MetricsMode } from './types.ts';

let counted: { readonly tally: Tally; readonly outlets: Outlets } | undefined;

/**
 * Counts a failure that belongs to no recorder, such as a setting that cannot be used, as
 * `event_stream.instrumentation.errors`.
 *
 * @param metrics Where it goes; that of the first call holds.
 */
export function countInstrumentationError(
  reason: InstrumentationErrorReason,
  metrics?: MetricsMode,
): void {
  counted ??= begin(metrics);
  countError(counted.tally, reason);
  counted.outlets.current();
}

function begin(metrics: MetricsMode | undefined): NonNullable<typeof counted> {
  const tally = createTally();
  zeroErrors(tally);
  const source = { tally, refresh: () => {}, failed: () => {} };
  return { tally, outlets: createOutlets({ metrics }, source) };
}
