import type { MeterProvider, Span, Tracer } from '@opentelemetry/api';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Telemetry } from '../test/harness.ts';
import {
  connection,
  disableRecorders,
  FakeLoad,
  moved,
  REORIGINATED,
  report,
  telemetry,
} from '../test/harness.ts';
import { createRecorder } from './recorder.ts';
import type { EventLogger, StreamRecorder } from './types.ts';

afterEach(() => {
  disableRecorders();
  vi.useRealTimers();
});

const LOST = report({ verdict: REORIGINATED, missed: 3 });

function toldToFail(): never {
  throw new Error('told to fail');
}

/** The same object, with one of its methods failing. */
function failing<T extends object>(target: T, method: keyof T): T {
  return new Proxy(target, {
    get(from, name) {
      if (name === method) return toldToFail;
      const value: unknown = Reflect.get(from, name);
      return typeof value === 'function' ? value.bind(from) : value;
    },
  });
}

/** Everything that can happen to a reconnected stream. */
function live(recorder: StreamRecorder): void {
  const before = connection();
  recorder.opened(before, { context: ROOT_CONTEXT });
  recorder.ended(before, 'reset', []);
  const one = connection({ ordinal: 1, resumeRequested: true });
  recorder.opened(one, { context: ROOT_CONTEXT });
  recorder.attemptContext(one);
  // As a protocol does that is confirmed by its first event.
  one.previous = before.context;
  recorder.settled(one, LOST);
  one.events = 5;
  recorder.inStream(one, { kind: 'sequence_gap', missed: 1 } as never);
  recorder.revised(one, { ...LOST, revised: true });
  recorder.ended(one, 'reset', [LOST]);
  const unanswered = connection({ ordinal: 2, resumeRequested: true });
  recorder.opened(unanswered, { context: ROOT_CONTEXT });
  recorder.noResponse(unanswered, 'ECONNREFUSED');
  const noStream = connection();
  recorder.opened(noStream, { context: ROOT_CONTEXT });
  recorder.notStream(noStream);
}

async function errors({ reader }: Telemetry): Promise<Readonly<Record<string, number>>> {
  return moved(reader, 'event_stream.instrumentation.errors');
}

async function expectCounted(t: Telemetry): Promise<void> {
  const reconnects = await moved(t.reader, 'event_stream.client.reconnects');
  expect(Object.values(reconnects)).toEqual([1]);
  expect(await moved(t.reader, 'event_stream.client.received_events')).toEqual({ '': 5 });
  expect(await moved(t.reader, 'event_stream.client.connection.active')).toEqual({});
}

function expectTold({ logs }: Telemetry): void {
  const names = logs.getFinishedLogRecords().map(({ eventName }) => eventName);
  expect(names).toContain('event_stream.reconnect');
  expect(names).toContain('event_stream.disconnect');
}

const SPAN_METHODS: readonly (keyof Span)[] = [
  'spanContext',
  'setAttribute',
  'setAttributes',
  'addLink',
  'setStatus',
  'isRecording',
  'end',
];

describe('spans that fail cost nothing but spans', () => {
  test.each(SPAN_METHODS)('at %s', async (method) => {
    const t = telemetry();
    const tracer = t.tracers.getTracer('test');
    t.recorder.setTracer({
      ...tracer,
      startSpan: (...args) => failing(tracer.startSpan(...args), method),
    } as Tracer);
    live(t.recorder);
    await expectCounted(t);
    expectTold(t);
    expect(Object.keys(await errors(t))).toEqual(['reason=telemetry']);
  });

  test('when none can be started at all', async () => {
    const t = telemetry();
    t.recorder.setTracer(failing(t.tracers.getTracer('test'), 'startSpan'));
    live(t.recorder);
    await expectCounted(t);
    expectTold(t);
    expect(await errors(t)).toEqual({ 'reason=telemetry': 4 });
  });

  test('and those that still can are ended', () => {
    const t = telemetry();
    const tracer = t.tracers.getTracer('test');
    t.recorder.setTracer({
      ...tracer,
      startSpan: (...args) => failing(tracer.startSpan(...args), 'setAttributes'),
    } as Tracer);
    live(t.recorder);
    const names = t.spans().map(({ name }) => name);
    expect(names).toContain('sse connect');
    expect(names).toContain('stream reconnect');
  });
});

describe('a logger that fails costs nothing but records', () => {
  test.each<keyof EventLogger>(['emit', 'enabled'])('at %s', async (method) => {
    const t = telemetry();
    const logger: EventLogger = { emit: () => {}, enabled: () => true };
    t.recorder.setLogger(failing(logger, method));
    live(t.recorder);
    await expectCounted(t);
    const verdicts = t.spans().map(({ attributes }) => attributes['event_stream.classification']);
    expect(verdicts).toContain('reoriginated');
    expect(Object.keys(await errors(t))).toEqual(['reason=telemetry']);
  });
});

const METER_STEPS = [
  'getMeter',
  'createHistogram',
  'createObservableCounter',
  'createObservableGauge',
  'createObservableUpDownCounter',
  'addBatchObservableCallback',
  'record',
] as const;

/** A provider whose meters and histograms fail at one step. */
function failingAt(step: (typeof METER_STEPS)[number], real: MeterProvider): MeterProvider {
  if (step === 'getMeter') return { getMeter: toldToFail };
  return {
    getMeter: (...args) => {
      const meter = real.getMeter(...args);
      if (step !== 'record') return failing(meter, step);
      return Object.assign(Object.create(meter), {
        createHistogram: () => ({ record: toldToFail }),
      });
    },
  };
}

describe('a meter that fails costs nothing but metrics', () => {
  test.each(METER_STEPS)('at %s', async (step) => {
    const t = telemetry();
    t.recorder.setMeterProvider(failingAt(step, t.meters));
    live(t.recorder);
    expectTold(t);
    expect(t.spans().map(({ name }) => name)).toContain('sse connect');
    // Where the counter still can be read, it says so.
    t.recorder.setMeterProvider(t.meters);
    expect(Object.keys(await errors(t))).toEqual(['reason=telemetry']);
  });

  test('and is asked once, not with every connection', () => {
    const t = telemetry();
    const getMeter = vi.fn(toldToFail);
    const broken = { getMeter };
    t.recorder.setMeterProvider(broken);
    t.recorder.setMeterProvider(broken);
    expect(getMeter).toHaveBeenCalledTimes(1);
  });
});

describe('a clock or a load probe that fails', () => {
  test('reaches nobody but the counter', async () => {
    for (const method of ['loopTimes', 'watchDelay', 'every'] as const) {
      const t = telemetry({ loadSource: failing(new FakeLoad(), method) });
      live(t.recorder);
      expect([method, Object.keys(await errors(t))]).toEqual([method, ['reason=telemetry']]);
    }
    const t = telemetry({ now: toldToFail });
    live(t.recorder);
    t.recorder.disable();
    expect(Object.keys(await errors(t))).toEqual(['reason=telemetry']);
  });

  test('stops the probe when it fails between two verdicts', () => {
    const load = new FakeLoad();
    const t = telemetry({ loadSource: load });
    live(t.recorder);
    load.loopTimes = toldToFail;
    expect(() => load.pass(0.5)).not.toThrow();
    expect(load.timers.size).toBe(0);
  });
});

test('what a recorder is made with may be broken: it is made all the same', () => {
  const recorder = createRecorder({ name: 'test' });
  expect(() => {
    recorder.setTracer(undefined as never);
    recorder.setMeterProvider(undefined as never);
    recorder.setLogger(undefined);
    live(recorder);
    recorder.disable();
  }).not.toThrow();
});
