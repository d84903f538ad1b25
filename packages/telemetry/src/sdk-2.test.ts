import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from 'sdk-metrics-2';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from 'sdk-trace-base-2';
import { expect, test } from 'vitest';
import { connection, FakeLoad, REORIGINATED, report } from '../test/harness.ts';
import { createRecorder } from './recorder.ts';
import { StreamSpanProcessor } from './span-processor.ts';

class Reader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

test('SDK 2.x: spans, the HTTP child, counters and histograms', async () => {
  const exporter = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({
    spanProcessors: [new StreamSpanProcessor(), new SimpleSpanProcessor(exporter)],
  });
  const reader = new Reader();
  const meters = new MeterProvider({ readers: [reader] });
  const recorder = createRecorder({ name: 'two', loadSource: new FakeLoad() });
  recorder.setTracer(tracers.getTracer('two'));
  recorder.setMeterProvider(meters);

  const second = connection({ ordinal: 1, resumeRequested: true });
  recorder.opened(second, { context: ROOT_CONTEXT });
  const context = recorder.attemptContext(second);
  const http = tracers.getTracer('http').startSpan('GET', { kind: SpanKind.CLIENT }, context);
  recorder.settled(second, report({ verdict: REORIGINATED, missed: 22 }));
  http.end();

  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name }) => name)).toEqual(['sse connect', 'stream reconnect', 'GET']);
  expect(spans[2]?.parentSpanContext?.spanId).toBe(spans[0]?.spanContext().spanId);
  expect(spans[2]?.attributes['event_stream.missed']).toBe(22);

  const { resourceMetrics } = await reader.collect();
  const collected = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  const sum = (name: string) =>
    collected
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }) => dataPoints.map(({ value }) => value as number))
      .reduce((a, b) => a + b, 0);
  expect(sum('event_stream.client.reoriginations')).toBe(1);
  expect(sum('event_stream.client.missed_events')).toBe(22);
  const utilization = collected.find(
    ({ descriptor }) => descriptor.name === 'event_stream.reconnect.event_loop_utilization',
  );
  expect(utilization?.dataPoints[0]?.value).toMatchObject({ count: 1 });
});
