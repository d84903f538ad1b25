import * as api from '@opentelemetry/api';
import { tellHeldVerdicts } from '@sameriver/telemetry';
import { readSwitch } from './config/switches.ts';

/** Milliseconds. A collector answers within it; one that is not there must not hold up a deploy. */
const PATIENCE = 1_000;

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Sends what is still buffered when the process comes to its end, and leaves that end as it is: the
 * exit code, and what a signal does. An application that calls `process.exit()` decides for itself.
 */
export function flushAtExit(): void {
  // Once: what flushing does brings the process to `beforeExit` again.
  process.once('beforeExit', () => void flush().then(endWithoutExporters));
  // There are no signals in a worker.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}

/**
 * Others must find the process as it would be without us: some ask how many listeners a signal has
 * and end the process when there are none but theirs. So this listener is the first and takes
 * itself off before the others run. Where there are no others the signal is sent again, which then
 * ends the process as it always would.
 */
function onSignal(signal: NodeJS.Signals): void {
  process.off(signal, onSignal);
  const alone = process.listenerCount(signal) === 0;
  void flush().then(() => {
    if (alone) process.kill(process.pid, signal);
    else process.prependListener(signal, onSignal);
  });
}

type Flushed = 'sent' | 'late';

/** Never rejects. */
async function flush(): Promise<Flushed> {
  tellHeldVerdicts();
  const late = Promise.withResolvers<Flushed>();
  const timer = setTimeout(late.resolve, patience(), 'late');
  const sent = Promise.allSettled(providers().map(forceFlush)).then((): Flushed => 'sent');
  const flushed = await Promise.race([sent, late.promise]);
  clearTimeout(timer);
  return flushed;
}

function patience(): number {
  return (readSwitch('SAMERIVER_EXIT_TIMEOUT', process.env) as number | undefined) ?? PATIENCE;
}

/**
 * The event loop had run empty, so nothing of the application is left but what other listeners of
 * `beforeExit` began: without any, all that keeps the process are exporters that try again and
 * again, for 10 s and more.
 */
function endWithoutExporters(flushed: Flushed): void {
  if (flushed === 'late' && process.listenerCount('beforeExit') === 0) process.exit();
}

function providers(): unknown[] {
  return [
    behindProxy(api.trace.getTracerProvider()),
    api.metrics.getMeterProvider(),
    api.logs.getLoggerProvider(),
  ];
}

function behindProxy(provider: api.TracerProvider): api.TracerProvider {
  return provider instanceof api.ProxyTracerProvider ? provider.getDelegate() : provider;
}

async function forceFlush(provider: unknown): Promise<void> {
  await (provider as { forceFlush?: () => Promise<void> }).forceFlush?.();
}
