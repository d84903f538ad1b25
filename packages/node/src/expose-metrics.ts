import type { MetricsMode } from '@sameriver/telemetry';
import { countInstrumentationError } from '@sameriver/telemetry';
import { complain } from './complain.ts';
import { readSwitch } from './config/switches.ts';
import { loadOwn } from './lazy.ts';
import type { serveMetrics } from './metrics-endpoint.ts';
import { processState } from './process-state.ts';

/** Serves the metrics on a port of their own, once in a process, where `SAMERIVER_METRICS_PORT` asks. */
export function exposeMetrics(mode: MetricsMode | undefined): void {
  const port = readSwitch('SAMERIVER_METRICS_PORT', process.env);
  const state = processState();
  if (typeof port !== 'number' || state.exposed === true) return;
  if (mode === 'otel') {
    complain('SAMERIVER_METRICS_PORT has no effect: metrics are set to go to otel alone');
    return;
  }
  state.exposed = true;
  const host = String(readSwitch('SAMERIVER_METRICS_HOST', process.env) ?? '127.0.0.1');
  const onFailure = (): void => countInstrumentationError('config', mode);
  const endpoint = loadOwn<{ readonly serveMetrics: typeof serveMetrics }>('metrics-endpoint');
  endpoint.serveMetrics({ host, port, onFailure });
}
