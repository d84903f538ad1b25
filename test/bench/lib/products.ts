import type { Setup } from './child.ts';

/** An instrumentation without an SDK behind it. */
export const PRODUCT: Setup = setup('sse');
/** The same without the comparison of payloads. */
export const PRODUCT_BY_ID: Setup = setup('sse', { BENCH_IDENTITY: 'id' });
/** The SDK and the HTTP instrumentations, whose exporters drop everything. */
export const OTEL_HTTP: Setup = setup('otel');
/** The same, and ours after them. */
export const OTEL_HTTP_AND_PRODUCT: Setup = setup('otel', { BENCH_SSE: 'on' });
/** The default of a peer: a span for each request, and for each message of a WebSocket. */
export const DD_TRACE: Setup = setup('dd-trace', {
  DD_TRACE_AGENT_URL: 'http://127.0.0.1:1',
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
});
/** The instrumentation of WebSockets that OpenTelemetry's registry lists, spans dropped. */
export const OTEL_WS: Setup = setup('otel-ws');

/** WebSockets alone, without an SDK behind them. */
export const WEBSOCKET: Setup = setup('websocket');
/** The same where an application has positions in its frames. */
export const WEBSOCKET_NUMBERED: Setup = setup('websocket', { BENCH_PROFILE: 'numbered' });
/** The same without the comparison of payloads. */
export const WEBSOCKET_NUMBERED_BY_ID: Setup = setup('websocket', {
  BENCH_PROFILE: 'numbered',
  BENCH_IDENTITY: 'id',
});

function setup(name: string, env: Setup['env'] = {}): Setup {
  return { imports: [new URL(`../products/${name}.ts`, import.meta.url).href], env };
}
