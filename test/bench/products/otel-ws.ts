import { createRequire } from 'node:module';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { WSInstrumentation } from 'opentelemetry-instrumentation-ws';

const exporter: SpanExporter = {
  export: (_batch, done) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve(),
};

new NodeSDK({
  serviceName: 'bench',
  autoDetectResources: false,
  instrumentations: [new WSInstrumentation()],
  spanProcessors: [new BatchSpanProcessor({ exporter })],
  metricReaders: [],
  logRecordProcessors: [],
}).start();
createRequire(import.meta.url)('ws');
