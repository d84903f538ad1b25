import type { MeterProvider } from '@opentelemetry/api';
import type { Instruments, MetricSource } from './instruments.ts';
import type { MeterScope } from './meter-binding.ts';
import { createMeterBinding } from './meter-binding.ts';
import { createSinkBinding } from './sink-binding.ts';
import type { MetricsMode } from './types.ts';

/** Wherever the metrics of one source go. */
export interface Outlets {
  /** `undefined` while they go nowhere. */
  current(): Instruments | undefined;
  /** A meter provider to use from now on; one that does nothing is passed over. */
  use(provider: MeterProvider): void;
  keepExemplars(): boolean;
  /** Leaves no timer and no listener behind. What is exported stays so. */
  stop(): void;
}

/**
 * One meter for all recorders of a process: their series have the same names, and a page of metrics
 * may not describe one name twice.
 */
const METER = '@sameriver/telemetry';

interface OutletOptions {
  /** Of the meter. */
  readonly version?: string;
  /** Without it, sinks take the place of the meter: nothing is counted twice. */
  readonly metrics?: MetricsMode | undefined;
}

export function createOutlets(options: OutletOptions, source: MetricSource): Outlets {
  const { metrics: mode } = options;
  const scope: MeterScope = { ...options, name: METER };
  const sinks = createSinkBinding(source, () => meters.current());
  if (mode !== 'otel') sinks.resume();
  const meters = createMeterBinding(scope, source, () =>
    mode === undefined ? sinks.isEmpty() : mode !== 'prometheus',
  );
  const all: Instruments = {
    record: (...measurement) => {
      meters.current()?.record(...measurement);
      sinks.record(...measurement);
    },
  };
  return {
    current() {
      if (mode !== 'otel') sinks.resume();
      return sinks.isEmpty() ? meters.current() : all;
    },
    use: meters.use,
    keepExemplars: () => !sinks.isEmpty(),
    stop() {
      sinks.pause();
      meters.stop();
    },
  };
}
