import type { MeterProvider } from '@opentelemetry/api';
import { createNoopMeter, metrics } from '@opentelemetry/api';
import type { Instruments, MetricSource } from './instruments.ts';
import { attach } from './instruments.ts';

/**
 * The metrics API has no proxy, so a meter taken before the SDK starts stays without effect for
 * good; and `startNodeSdk` with a configuration file tells instrumentations before its provider
 * exists. So the global provider is looked at again: three times after the start, for the series
 * that should exist before anything happens, and whenever a connection begins.
 */
const LATER = [0, 1_000, 10_000];

export interface MeterBinding {
  /** Instruments of a provider that does something, or `undefined` while there is none. */
  current(): Instruments | undefined;
  /** An explicit provider, which the global one does not replace later. */
  use(provider: MeterProvider): void;
  /** No timer is left behind. */
  stop(): void;
}

export function createMeterBinding(
  scope: { readonly name: string; readonly version?: string },
  source: MetricSource,
): MeterBinding {
  let bound: Instruments | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Threw at us once; its next failure would be the same. */
  let broken: MeterProvider | undefined;

  function bind(provider: MeterProvider): void {
    if (provider === broken) return;
    try {
      const meter = provider.getMeter(scope.name, scope.version);
      if (meter === createNoopMeter()) return;
      bound?.detach();
      bound = attach(meter, source);
    } catch {
      broken = provider;
      source.failed();
    }
  }

  function current(): Instruments | undefined {
    if (bound === undefined) bind(metrics.getMeterProvider());
    return bound;
  }

  function lookAgain(attempt: number): void {
    const delay = LATER[attempt];
    if (current() !== undefined || delay === undefined) return;
    timer = setTimeout(() => lookAgain(attempt + 1), delay);
    timer.unref();
  }

  lookAgain(0);
  return { current, use: bind, stop: () => clearTimeout(timer) };
}
