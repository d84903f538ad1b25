import { metrics as metricsApi, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  connection,
  FakeLoad,
  ManualReader,
  metric,
  moved,
  REORIGINATED,
  RESUMED,
  report,
  UNVERIFIABLE,
} from '../test/harness.ts';
import { createRecorder } from './recorder.ts';
import type { StreamRecorder } from './types.ts';

const start = { context: ROOT_CONTEXT };
const RESUMED_SERIES = 'classification=resumed,load.level=low,reason=cursor_echoed';

let load: FakeLoad;
let recorder: StreamRecorder;

beforeEach(() => {
  vi.useFakeTimers();
  load = new FakeLoad();
  recorder = createRecorder({ name: 'late', loadSource: load });
});

afterEach(() => {
  recorder.disable();
  metricsApi.disable();
  trace.disable();
  vi.useRealTimers();
});

function meterProvider(): { reader: ManualReader; provider: MeterProvider } {
  const reader = new ManualReader();
  return { reader, provider: new MeterProvider({ readers: [reader] }) };
}

function reconnect() {
  const one = connection({ ordinal: 1 });
  recorder.opened(one, start);
  recorder.settled(one, report({ verdict: RESUMED }));
  return one;
}

describe('without an SDK', () => {
  test('there is no span, no load probe, and after ten seconds no timer', () => {
    const one = reconnect();
    expect(recorder.attemptContext(one)).toBeUndefined();
    expect([load.timers.size, load.delays.size]).toEqual([0, 0]);
    vi.advanceTimersByTime(11_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('disable leaves no timer', () => {
    recorder.disable();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('an SDK that starts after us', () => {
  test('gets the series before anything happens, and without a connection', async () => {
    const { reader, provider } = meterProvider();
    metricsApi.setGlobalMeterProvider(provider);
    vi.advanceTimersByTime(1_000);
    const { dataPoints } = await metric(reader, 'event_stream.client.reconnects');
    expect(dataPoints).not.toHaveLength(0);
  });

  test('however late is found by the next connection, and gets what was counted before it', async () => {
    reconnect();
    vi.advanceTimersByTime(3_600_000);
    const { reader, provider } = meterProvider();
    metricsApi.setGlobalMeterProvider(provider);
    reconnect();
    expect(await moved(reader, 'event_stream.client.reconnects')).toEqual({ [RESUMED_SERIES]: 2 });
  });

  test('gets spans, and the load is measured from then on', () => {
    reconnect();
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor({ exporter })];
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
    const one = connection({ ordinal: 1 });
    recorder.opened(one, start);
    expect([load.timers.size, load.delays.size]).toEqual([1, 1]);
    recorder.settled(one, report({ verdict: REORIGINATED }));
    const names = exporter.getFinishedSpans().map(({ name }) => name);
    expect(names).toEqual(['sse connect', 'stream reconnect']);
  });
});

describe('an explicit meter provider', () => {
  test('is not replaced by the global one', async () => {
    const explicit = meterProvider();
    const global = meterProvider();
    recorder.setMeterProvider(explicit.provider);
    metricsApi.setGlobalMeterProvider(global.provider);
    reconnect();
    expect(await moved(explicit.reader, 'event_stream.client.reconnects')).toEqual({
      [RESUMED_SERIES]: 1,
    });
    await expect(metric(global.reader, 'event_stream.client.reconnects')).rejects.toThrow();
  });

  test('replaces the global one, which then gets nothing more', async () => {
    const explicit = meterProvider();
    const global = meterProvider();
    metricsApi.setGlobalMeterProvider(global.provider);
    const one = reconnect();
    recorder.setMeterProvider(explicit.provider);
    recorder.ended(one, 'eof', [report({ verdict: RESUMED })]);
    const duration = 'event_stream.client.connection.duration';
    expect((await metric(explicit.reader, duration)).dataPoints).toHaveLength(1);
    await expect(metric(global.reader, duration)).rejects.toThrow();
    const counted = await moved(explicit.reader, 'event_stream.client.reconnects');
    expect(counted).toEqual({ [RESUMED_SERIES]: 1 });
    await expect(metric(global.reader, 'event_stream.client.reconnects')).rejects.toThrow();
  });

  test('given twice is bound once', async () => {
    const { reader, provider } = meterProvider();
    recorder.setMeterProvider(provider);
    recorder.setMeterProvider(provider);
    reconnect();
    expect(await moved(reader, 'event_stream.client.reconnects')).toEqual({ [RESUMED_SERIES]: 1 });
  });

  test('that does nothing yet leaves late binding on', async () => {
    recorder.setMeterProvider(metricsApi.getMeterProvider());
    const { reader, provider } = meterProvider();
    metricsApi.setGlobalMeterProvider(provider);
    reconnect();
    expect(await moved(reader, 'event_stream.client.reconnects')).toEqual({ [RESUMED_SERIES]: 1 });
  });
});

describe('a proxy of the API as tracer', () => {
  test('is not mistaken for an SDK', () => {
    recorder.setTracer(trace.getTracer('late'));
    const one = connection({ ordinal: 1 });
    recorder.opened(one, start);
    recorder.settled(one, report({ verdict: UNVERIFIABLE }));
    expect(recorder.attemptContext(one)).toBeUndefined();
    expect(load.timers.size).toBe(0);
  });
});
