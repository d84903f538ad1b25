import type { Attributes, Context, Span } from '@opentelemetry/api';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import {
  InMemoryLogRecordExporter,
  LoggerProvider,
  SimpleLogRecordProcessor,
} from '@opentelemetry/sdk-logs';
import type { Histogram, MetricData } from '@opentelemetry/sdk-metrics';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, Sampler, SpanProcessor } from '@opentelemetry/sdk-trace';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { StreamConnection, StreamReport, Verdict } from '@sameriver/core';
import { createRecorder } from '../src/recorder.ts';
import { StreamSpanProcessor } from '../src/span-processor.ts';
import type { LoadSource, RecorderOptions, StreamRecorder } from '../src/types.ts';

/** Collects when asked. */
export class ManualReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** The part of a connection that a recorder reads, as plain fields. */
export interface FakeConnection extends StreamConnection {
  ordinal: number;
  resumeRequested: boolean;
  protocol: string;
  events: number;
  repeated: number;
  previous: unknown;
}

export function connection(facts: Partial<FakeConnection> = {}): FakeConnection {
  const nothing = (): void => {};
  return {
    role: 'client',
    transport: 'sse',
    ordinal: 0,
    resumeRequested: false,
    protocol: 'sse',
    settled: false,
    events: 0,
    repeated: 0,
    reads: 'messages',
    context: undefined,
    previous: undefined,
    redirect: nothing,
    response: () => true,
    push: nothing,
    pushString: nothing,
    message: nothing,
    sent: nothing,
    timeout: nothing,
    end: nothing,
    ...facts,
  };
}

export function report(facts: Partial<StreamReport> = {}): StreamReport {
  return {
    stream: undefined,
    verdict: undefined,
    revised: false,
    missed: 'unknown',
    duplicates: 'unknown',
    atLeast: false,
    epoch: undefined,
    previousEpoch: undefined,
    epochIsSession: false,
    requestedCursor: undefined,
    firstCursor: undefined,
    lastCursor: undefined,
    replayed: undefined,
    ...facts,
  };
}

export const RESUMED: Verdict = { classification: 'resumed', reason: 'cursor_echoed' };
export const REORIGINATED: Verdict = {
  classification: 'reoriginated',
  reason: 'cursor_not_advanced',
};
export const UNVERIFIABLE: Verdict = { classification: 'unverifiable', reason: 'no_window' };
export const REFUSED: Verdict = { classification: 'refused', reason: 'stream_gone' };
export const BY_DESIGN: Verdict = {
  classification: 'reoriginated',
  reason: 'protocol_never_resumes',
};

/** A load source without a clock; `tick` is the passing of one interval. */
export class FakeLoad implements LoadSource {
  idle = 0;
  active = 0;
  p99 = 0;
  readonly timers = new Set<() => void>();
  readonly delays = new Set<object>();

  loopTimes(): { idle: number; active: number } {
    return { idle: this.idle, active: this.active };
  }

  watchDelay(): ReturnType<LoadSource['watchDelay']> {
    const watch = {
      p99: () => this.p99,
      reset: () => {},
      stop: () => void this.delays.delete(watch),
    };
    this.delays.add(watch);
    return watch;
  }

  every(_interval: number, callback: () => void): () => void {
    this.timers.add(callback);
    return () => void this.timers.delete(callback);
  }

  /** The loop was busy for `share` of each of `intervals` half seconds. */
  pass(share: number, intervals = 1): void {
    for (let i = 0; i < intervals; i += 1) {
      this.active += 500 * share;
      this.idle += 500 * (1 - share);
      for (const callback of [...this.timers]) callback();
    }
  }
}

export interface Telemetry {
  readonly recorder: StreamRecorder;
  readonly load: FakeLoad;
  readonly tracers: TracerProvider;
  readonly meters: MeterProvider;
  readonly reader: ManualReader;
  readonly logs: InMemoryLogRecordExporter;
  now: number;
  /** Finished spans, oldest first. */
  spans(): readonly ReadableSpan[];
  /** The only finished span of that name. */
  span(name: string): ReadableSpan;
  /** A span of the application or of an HTTP instrumentation. */
  start(name: string, context?: Context): Span;
}

export interface TelemetryOptions extends Partial<RecorderOptions> {
  readonly sampler?: Sampler;
  readonly processors?: readonly SpanProcessor[];
}

/** A recorder on providers of its own: nothing is global, tests do not see each other. */
const recorders: StreamRecorder[] = [];

/** For `afterEach`: what a test leaves open would count among the active streams of the next. */
export function disableRecorders(): void {
  for (const recorder of recorders.splice(0)) recorder.disable();
}

export function telemetry({
  sampler,
  processors = [],
  ...options
}: TelemetryOptions = {}): Telemetry {
  const exporter = new InMemorySpanExporter();
  const simple = new SimpleSpanProcessor({ exporter });
  const tracers = new TracerProvider({
    spanProcessors: [...processors, new StreamSpanProcessor(), simple],
    ...(sampler === undefined ? {} : { sampler }),
  });
  const reader = new ManualReader();
  const meters = new MeterProvider({ readers: [reader] });
  const logs = new InMemoryLogRecordExporter();
  const processor = new SimpleLogRecordProcessor({ exporter: logs });
  const load = new FakeLoad();
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  const recorder = createRecorder({
    name: 'test',
    loadSource: load,
    now: () => state.now,
    ...options,
  });
  recorders.push(recorder);
  const state: Telemetry = {
    recorder,
    load,
    tracers,
    meters,
    reader,
    logs,
    now: 1_000_000,
    spans,
    span(name) {
      const [found, another] = spans().filter((span) => span.name === name);
      if (found === undefined || another !== undefined) {
        throw new Error(`not exactly one span "${name}" in [${spans().map((span) => span.name)}]`);
      }
      return found;
    },
    start: (name, context = ROOT_CONTEXT) => tracers.getTracer('app').startSpan(name, {}, context),
  };
  recorder.setTracer(tracers.getTracer('test'));
  recorder.setMeterProvider(meters);
  recorder.setLogger(new LoggerProvider({ processors: [processor] }).getLogger('test'));
  return state;
}

/** Everything the reader sees of one metric. */
export async function metric(reader: ManualReader, name: string): Promise<MetricData> {
  const found = (await metrics(reader)).find(({ descriptor }) => descriptor.name === name);
  if (found === undefined) throw new Error(`no metric ${name} was collected`);
  return found;
}

export async function metrics(reader: ManualReader): Promise<readonly MetricData[]> {
  const { resourceMetrics, errors } = await reader.collect();
  if (errors.length > 0) throw new AggregateError(errors, 'collection failed');
  return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
}

/** Series whose value is not 0, as `name=value,name=value` (without the namespace) to value. */
export async function moved(
  reader: ManualReader,
  name: string,
): Promise<Readonly<Record<string, number>>> {
  const { dataPoints } = await metric(reader, name);
  const entries = dataPoints.map((point) => [seriesOf(point.attributes), sumOf(point.value)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== 0));
}

function seriesOf(attributes: Attributes): string {
  return Object.entries(attributes)
    .filter(([name]) => name !== 'event_stream.protocol.name')
    .map(([name, value]) => `${name.replace('event_stream.', '')}=${value}`)
    .sort()
    .join(',');
}

function sumOf(value: unknown): number {
  return typeof value === 'number' ? value : ((value as Histogram).sum ?? Number.NaN);
}
