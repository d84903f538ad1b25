import { createRequire } from 'node:module';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';

const exported = { spans: 0 };
// A benchmark without spans would show an instrumentation that costs nothing.
Object.assign(globalThis, { benchSpans: exported });

const spans: SpanExporter = {
  export(batch, done) {
    exported.spans += batch.length;
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve(),
};
const metrics: PushMetricExporter = {
  export: (_metrics, done) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve(),
};

new NodeSDK({
  serviceName: 'bench',
  autoDetectResources: false,
  instrumentations: [
    new HttpInstrumentation(),
    new UndiciInstrumentation(),
    ...(process.env['BENCH_SSE'] === 'on' ? [new SseInstrumentation()] : []),
  ],
  spanProcessors: [new BatchSpanProcessor({ exporter: spans, scheduledDelayMillis: 1000 })],
  metricReaders: [
    new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 10_000 }),
  ],
  logRecordProcessors: [],
}).start();

// The instrumentation patches prototypes when the module is first required; an `import` of a
// built-in module does not go through its hook.
createRequire(import.meta.url)('node:http');
