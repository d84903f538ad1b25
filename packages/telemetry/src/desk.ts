import { countError, zeroErrors } from './counts.ts';
import type { EventCounter } from './event-counter.ts';
import { createEventCounter } from './event-counter.ts';
import type { Instruments } from './instruments.ts';
import type { LoadProbe } from './load-probe.ts';
import { createLoadProbe } from './load-probe.ts';
import type { MeterBinding } from './meter-binding.ts';
import { createMeterBinding } from './meter-binding.ts';
import { ROLE_VALUES } from './names.ts';
import { createProtocolLabels } from './protocol-names.ts';
import type { ReplayWindows } from './replay-windows.ts';
import { createReplayWindows } from './replay-windows.ts';
import type { StreamBook } from './stream-book.ts';
import { createStreamBook, openStreams } from './stream-book.ts';
import type { Tally } from './tally.ts';
import { createTally } from './tally.ts';
import type { Teller } from './teller.ts';
import { createTeller } from './teller.ts';
import type { TracerBinding } from './tracer-binding.ts';
import { createTracerBinding } from './tracer-binding.ts';
import type { CaptureOptions, RecorderOptions } from './types.ts';

/** What the parts of a recorder share. */
export interface Desk {
  readonly tally: Tally;
  readonly book: StreamBook;
  readonly counter: EventCounter;
  readonly windows: ReplayWindows;
  readonly probe: LoadProbe;
  readonly teller: Teller;
  readonly tracers: TracerBinding;
  readonly meters: MeterBinding;
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

/**
 * One meter for all recorders of a process: their series have the same names, and a page of metrics
 * may not describe one name twice.
 */
const METER = '@sameriver/telemetry';

export function createDesk(options: RecorderOptions): Desk {
  const clock = options.now ?? (() => performance.now());
  const now = (): number => Math.trunc(clock());
  const tally = createTally();
  zeroErrors(tally);
  const failed = (): void => countError(tally, 'telemetry');
  const labelOf = createProtocolLabels();
  const book = createStreamBook();
  const probe = createLoadProbe(openStreams, options.load, options.loadSource, failed);
  const counter = createEventCounter(tally, labelOf, () => probe.read().level);
  const { roles = ROLE_VALUES, transport = 'sse' } = options;
  for (const role of roles) counter.expect(role, transport);
  const windows = createReplayWindows(tally, labelOf);
  const tracers = createTracerBinding(options);
  const meters = createMeterBinding(
    { ...options, name: METER },
    {
      tally,
      refresh,
      failed,
    },
  );

  function refresh(): void {
    try {
      counter.countAll(book.open);
      windows.refresh();
    } catch {
      failed();
    }
  }

  return {
    tally,
    book,
    counter,
    windows,
    probe,
    teller: createTeller(options.events ?? 'log', now, options.eventBudget, failed),
    tracers,
    meters,
    instruments: meters.current,
    exporting: () => meters.current() !== undefined || tracers.current() !== undefined,
    now,
    capture: options.capture ?? {},
    markReoriginatedAsError: options.markReoriginatedAsError ?? false,
    failed,
    stopped: false,
  };
}
