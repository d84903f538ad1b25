import type { MeterProvider } from '@opentelemetry/api';
import { createNoopMeter, metrics } from '@opentelemetry/api';
import type { Attachment, Instruments, MetricSource } from './instruments.ts';
import { attach } from './instruments.ts';

/**
 * The metrics API has no proxy, so a meter taken before the SDK starts stays without effect for
 * good; and `startNodeSdk` with a configuration file tells instrumentations before its provider
 * exists. So the global provider is looked at again: three times after the start, for the series
 * that should exist before anything happens, and whenever a connection begins.
 */
const LATER = [0, 1_000, 10_000];

/** Instrumentation scope of the meter. */
export interface MeterScope {
  readonly name: string;
  readonly version?: string;
}

export interface MeterBinding {
  /** Instruments of a provider that does something, or `undefined` while none is there or wanted. */
  current(): Instruments | undefined;
  /** An explicit provider, which the global one does not replace later. */
  use(provider: MeterProvider): void;
  /** No timer is left behind. */
  stop(): void;
}

/** @param isWanted Asked each time; a meter that is wanted no longer is let go of. */
export function createMeterBinding(
  { name, version }: MeterScope,
  source: MetricSource,
  isWanted: () => boolean,
): MeterBinding {
  let explicit: MeterProvider | undefined;
  let bound: Attachment | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Threw at us once; its next failure would be the same. */
  let broken: MeterProvider | undefined;

  /** @returns Whether the provider does something. */
  function bind(provider: MeterProvider): boolean {
    if (provider === broken) return false;
    try {
      const meter = provider.getMeter(name, version);
      if (meter === createNoopMeter()) return false;
      bound?.detach();
      bound = isWanted() ? attach(meter, source) : undefined;
      return true;
    } catch {
      broken = provider;
      source.failed();
      return false;
    }
  }

  function current(): Instruments | undefined {
    if (!isWanted()) {
      bound?.detach();
      bound = undefined;
    } else if (bound === undefined) bind(explicit ?? metrics.getMeterProvider());
    return bound;
  }

  function lookAgain(attempt: number): void {
    const delay = LATER[attempt];
    if (current() !== undefined || delay === undefined) return;
    timer = setTimeout(() => lookAgain(attempt + 1), delay);
    timer.unref();
  }

  lookAgain(0);
  return {
    current,
    use(provider) {
      if (bind(provider)) explicit = provider;
    },
    stop: () => clearTimeout(timer),
  };
}
