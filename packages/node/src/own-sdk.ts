import { createRequire, syncBuiltinESMExports } from 'node:module';
import { context, metrics } from '@opentelemetry/api';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import { StreamSpanProcessor } from '@sameriver/telemetry';
import { flushAtExit } from './flush-at-exit.ts';
import { load } from './lazy.ts';
import { isDisabled } from './process-state.ts';

/**
 * Starts an SDK as the standard `OTEL_*` variables say (exporters, `OTEL_SERVICE_NAME`,
 * `OTEL_CONFIG_FILE` …), with spans and propagation for HTTP, without which a stream's two ends
 * would stand in traces apart.
 *
 * @param createOurs Called when the HTTP instrumentations exist: whoever is made later wraps further
 *   out, and an attempt must begin before its HTTP span.
 */
export function startOwnSdk(createOurs: () => readonly Instrumentation[]): void {
  const instrumentations = httpInstrumentations();
  instrumentations.push(...createOurs());
  const { startNodeSdk } =
    load<typeof import('@opentelemetry/sdk-node')>('@opentelemetry/sdk-node');
  // Its own default is `info`, which it writes to the application's stdout; and each scrape warns
  // that the two HTTP instrumentations describe one histogram differently.
  startNodeSdk({ instrumentations, logLevel: process.env['OTEL_LOG_LEVEL'] ?? 'error' });
  // With a configuration file it tells nobody of its meter provider.
  const provider = metrics.getMeterProvider();
  for (const instrumentation of instrumentations) instrumentation.setMeterProvider(provider);
  patchBuiltins();
  flushAtExit();
}

function httpInstrumentations(): Instrumentation[] {
  const found: Instrumentation[] = [];
  const { env } = process;
  if (!isDisabled('http', env)) {
    const { HttpInstrumentation } = load<typeof import('@opentelemetry/instrumentation-http')>(
      '@opentelemetry/instrumentation-http',
    );
    found.push(new HttpInstrumentation());
  }
  if (!isDisabled('undici', env)) {
    const { UndiciInstrumentation } = load<typeof import('@opentelemetry/instrumentation-undici')>(
      '@opentelemetry/instrumentation-undici',
    );
    // Span processors given to the SDK would replace those that the variables ask for; this hook
    // runs in the context that a span processor would be given.
    const processor = new StreamSpanProcessor();
    const requestHook = (span: Parameters<typeof processor.onStart>[0]): void =>
      processor.onStart(span, context.active());
    found.push(new UndiciInstrumentation({ requestHook }));
  }
  return found;
}

/**
 * An instrumentation patches a module when it is next required, which nobody may do any more. The
 * second step reaches who imported `request` by name: a built-in module needs no loader hook.
 */
function patchBuiltins(): void {
  const require = createRequire(import.meta.url);
  for (const name of ['http', 'https']) require(name);
  syncBuiltinESMExports();
}
