import { TraceFlags } from '@opentelemetry/api';
import type { Exemplar } from './metric-sink.ts';
import type { Outlets } from './outlets.ts';
import type { LiveConnection } from './record.ts';
import type { Tally } from './tally.ts';
import { traced } from './tally.ts';

/** Which trace a measurement belongs to. */
export interface Traces {
  /** `undefined` where nobody keeps exemplars, and for a span that was not sampled. */
  exemplarOf(live: LiveConnection): Exemplar | undefined;
  /** The tally for what happens on one connection: its series remember the trace of that. */
  tallyFor(live: LiveConnection): Tally;
}

export function createTraces(tally: Tally, outlets: Outlets): Traces {
  function exemplarOf({ memo: { spanContext } }: LiveConnection): Exemplar | undefined {
    if (spanContext === undefined || !outlets.keepExemplars()) return undefined;
    const { traceId, spanId, traceFlags } = spanContext;
    return (traceFlags & TraceFlags.SAMPLED) === 0
      ? undefined
      : { traceId, spanId, timestamp: Date.now() / 1_000 };
  }

  return {
    exemplarOf,
    tallyFor(live) {
      const exemplar = exemplarOf(live);
      return exemplar === undefined ? tally : traced(tally, exemplar);
    },
  };
}
