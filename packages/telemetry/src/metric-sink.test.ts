import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace';
import { afterEach, describe, expect, test } from 'vitest';
import type { Telemetry } from '../test/harness.ts';
import {
  connection,
  disableRecorders,
  metrics,
  moved,
  REORIGINATED,
  report,
  telemetry,
} from '../test/harness.ts';
import type { CollectMetrics, Exemplar, MetricSink } from './metric-sink.ts';
import { addMetricSink } from './metric-sink.ts';
import { countInstrumentationError } from './process-errors.ts';

const RECONNECTS = 'event_stream.client.reconnects';
const REORIGINATIONS = 'event_stream.client.reoriginations';

/** Keeps nothing: it is asked for what holds now. */
class TestSink implements MetricSink {
  collect: CollectMetrics = () => new Map();
  readonly recorded: Array<readonly [name: string, exemplar: Exemplar | undefined]> = [];
  readonly remove: () => void;

  constructor() {
    this.remove = addMetricSink(this);
  }

  start(collect: CollectMetrics): void {
    this.collect = collect;
  }

  stop(): void {
    this.collect = () => new Map();
  }

  record(metric: { name: string }, _: unknown, __: number, exemplar: Exemplar | undefined): void {
    this.recorded.push([metric.name, exemplar]);
  }

  series(name: string) {
    const found = [...this.collect()].find(([metric]) => metric.name === name);
    return [...(found?.[1] ?? [])];
  }

  total(name: string): number {
    return this.series(name).reduce((sum, { value }) => sum + value, 0);
  }
}

const sinks: TestSink[] = [];

function sink(): TestSink {
  const made = new TestSink();
  sinks.push(made);
  return made;
}

afterEach(() => {
  disableRecorders();
  for (const each of sinks.splice(0)) each.remove();
});

function reoriginate(t: Telemetry): void {
  const one = connection({ ordinal: 1 });
  t.recorder.opened(one, { context: ROOT_CONTEXT });
  t.recorder.settled(one, report({ verdict: REORIGINATED }));
}

/** Reconnects that the OpenTelemetry SDK would export. */
async function exported(t: Telemetry): Promise<number> {
  const counters = await metrics(t.reader);
  const found = counters.find(({ descriptor }) => descriptor.name === RECONNECTS);
  return (found?.dataPoints ?? []).reduce((sum, { value }) => sum + Number(value), 0);
}

describe('where metrics go', () => {
  test('a sink takes the place of the meter, so that nothing is counted twice', async () => {
    const t = telemetry();
    reoriginate(t);
    const late = sink();
    expect(await exported(t)).toBe(0);
    reoriginate(t);
    expect(await exported(t)).toBe(0);
    expect(late.total(RECONNECTS)).toBe(2);
  });

  test('when the sink goes the meter is back, with all that was counted', async () => {
    const t = telemetry();
    sink().remove();
    reoriginate(t);
    expect(await moved(t.reader, REORIGINATIONS)).toEqual({
      'load.level=low,reason=cursor_not_advanced': 1,
    });
  });

  test('metrics: both', async () => {
    const one = sink();
    const t = telemetry({ metrics: 'both' });
    reoriginate(t);
    expect(await exported(t)).toBe(1);
    expect(one.total(RECONNECTS)).toBe(1);
    expect(one.recorded).not.toEqual([]);
  });

  test('metrics: otel', async () => {
    const one = sink();
    const t = telemetry({ metrics: 'otel' });
    reoriginate(t);
    expect(await exported(t)).toBe(1);
    expect(one.series(RECONNECTS)).toEqual([]);
  });

  test('metrics: prometheus, and nowhere while no sink is there', async () => {
    const t = telemetry({ metrics: 'prometheus' });
    reoriginate(t);
    expect(await exported(t)).toBe(0);
    expect(sink().total(RECONNECTS)).toBe(1);
  });

  test('two recorders on one sink are added up', () => {
    const one = sink();
    reoriginate(telemetry());
    reoriginate(telemetry());
    expect(one.total(RECONNECTS)).toBe(2);
  });

  test('every possible series is there before anything happens', () => {
    const one = sink();
    telemetry();
    const series = one.series(REORIGINATIONS);
    expect(series.length).toBeGreaterThan(20);
    expect(series.every(({ value }) => value === 0)).toBe(true);
  });
});

describe('exemplars', () => {
  test('name the connect span of what was counted last', () => {
    const one = sink();
    const t = telemetry();
    reoriginate(t);
    reoriginate(t);
    const { traceId, spanId } = t
      .spans()
      .findLast(({ kind }) => kind === SpanKind.CLIENT)!
      .spanContext();
    const increased = one.series(REORIGINATIONS).filter(({ value }) => value > 0);
    expect(increased.map(({ exemplar }) => exemplar)).toMatchObject([
      { traceId, spanId, value: 1 },
    ]);
    expect(one.recorded).toContainEqual([
      'event_stream.reconnect.event_loop_utilization',
      expect.objectContaining({ traceId, spanId }),
    ]);
  });

  test('none of a span that is not sampled: nobody could look it up', () => {
    const one = sink();
    reoriginate(telemetry({ sampler: new AlwaysOffSampler() }));
    const increased = one.series(REORIGINATIONS).filter(({ value }) => value > 0);
    expect(increased.map(({ exemplar }) => exemplar)).toEqual([undefined]);
  });
});

test('a failure that belongs to no recorder is counted beside those of the recorders', () => {
  const one = sink();
  const t = telemetry();
  t.recorder.instrumentationError('decoder');
  countInstrumentationError('config');
  expect(one.total('event_stream.instrumentation.errors')).toBe(2);
});
