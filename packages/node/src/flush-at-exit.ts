import * as api from '@opentelemetry/api';

/** No exporter may hold up for longer a process that was told to end. */
const PATIENCE = 3_000;

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Sends what is still buffered when the process comes to its end, and leaves that end as it is: the
 * exit code, and what a signal does. An application that calls `process.exit()` decides for itself.
 */
export function flushAtExit(): void {
  // Once: what flushing does brings the process to `beforeExit` again.
  process.once('beforeExit', () => void flush());
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

/** Never rejects. */
async function flush(): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, PATIENCE);
  await Promise.race([Promise.allSettled(providers().map(forceFlush)), late.promise]);
  clearTimeout(timer);
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
