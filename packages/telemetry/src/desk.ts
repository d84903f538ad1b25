import { countError, zeroErrors } from './counts.ts';
import type { EventCounter } from './event-counter.ts';
import { createEventCounter } from './event-counter.ts';
import type { Instruments } from './instruments.ts';
import type { LoadProbe } from './load-probe.ts';
import { createLoadProbe } from './load-probe.ts';
import { ROLE_VALUES } from './names.ts';
import type { Outlets } from './outlets.ts';
import { createOutlets } from './outlets.ts';
import { createProtocolLabels } from './protocol-names.ts';
import type { StreamBook } from './stream-book.ts';
import { createStreamBook, openStreams } from './stream-book.ts';
import type { Tally } from './tally.ts';
import { createTally } from './tally.ts';
import type { Teller } from './teller.ts';
import { createTeller } from './teller.ts';
import type { TracerBinding } from './tracer-binding.ts';
import { createTracerBinding } from './tracer-binding.ts';
import type { Traces } from './traces.ts';
import { createTraces } from './traces.ts';
import type { CaptureOptions, RecorderOptions } from './types.ts';

/** What the parts of a recorder share. */
export interface Desk extends Traces {
  readonly tally: Tally;
  readonly book: StreamBook;
  readonly counter: EventCounter;
  readonly probe: LoadProbe;
  readonly teller: Teller;
  readonly tracers: TracerBinding;
  readonly outlets: Outlets;
  /** `undefined` while no meter provider is there. */
  instruments(): Instruments | undefined;
  /** Whether anything that is measured would leave the process. */
  exporting(): boolean;
  /** Whole milliseconds: V8 keeps a fraction in an object of its own, four of them on each stream. */
  now(): number;
  readonly capture: CaptureOptions;
  readonly markReoriginatedAsError: boolean;
  /** Counts a failure of ours, or of what the SDK has plugged into it. */
  failed(): void;
  /** Disabled, and nothing was opened since. */
  stopped: boolean;
}

export function createDesk(options: RecorderOptions): Desk {
  const clock = options.now ?? (() => performance.now());
  const now = (): number => Math.trunc(clock());
  const tally = createTally();
  zeroErrors(tally);
  const failed = (): void => countError(tally, 'telemetry');
  const labelOf = createProtocolLabels();
  const book = createStreamBook();
  const probe = createLoadProbe(openStreams, options.load, options.loadSource, failed);
  const outlets = createOutlets(options, { tally, refresh, failed });
  const traces = createTraces(tally, outlets);
  const counter = createEventCounter(tally, traces.tallyFor, labelOf, () => probe.read().level);
  const { roles = ROLE_VALUES, transport = 'sse' } = options;
  for (const role of roles) counter.expect(role, transport);
  const tracers = createTracerBinding(options);

  function refresh(): void {
    try {
      counter.countAll(book.open);
    } catch {
      failed();
    }
  }

  return {
    tally,
    ...traces,
    book,
    counter,
    probe,
    teller: createTeller(options.events ?? 'log', now, options.eventBudget, failed),
    tracers,
    outlets,
    instruments: outlets.current,
    exporting: () => outlets.current() !== undefined || tracers.current() !== undefined,
    now,
    capture: options.capture ?? {},
    markReoriginatedAsError: options.markReoriginatedAsError ?? false,
    failed,
    stopped: false,
  };
}
