// What does counting cost: for each event, each connection, each collection of metrics?
import type { Counter, Histogram, Meter, MeterProvider, Tracer } from '@opentelemetry/api';
import { createNoopMeter, ROOT_CONTEXT } from '@opentelemetry/api';
import { MetricReader, MeterProvider as SdkMeterProvider } from '@opentelemetry/sdk-metrics';
import { AlwaysOffSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { StreamConnection, StreamObserver, StreamTimeline } from '@sameriver/core';
import { createServerTimeline } from '@sameriver/core';
import type { StreamRecorder } from '@sameriver/telemetry';
import { createRecorder } from '@sameriver/telemetry';
import { SseScanner } from '../../packages/core/dist/sse/scanner.js';
import { smallEvent } from './lib/event-streams.ts';
import { interleave, timed } from './lib/interleave.ts';
import { cells, figure, finish, heading, judge, judgeFact, printTable } from './lib/report.ts';
import { differences, median, ratios, spreadOf } from './lib/spread.ts';

class Collector extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const SILENT: StreamObserver = { settled() {}, revised() {}, inStream() {}, ended() {} };
const PACE = { rounds: 21, warmup: 6 };
const EVENTS = 2000;
const CHUNKS = Array.from({ length: EVENTS }, (_, n) => Buffer.from(smallEvent(100_000 + n, 60)));
const STREAMS = 1000;
const KIBIBYTE = 1024;

await measureEvents();
countCalls();
measureGarbage();
await measureCollection();
finish();

/** A field that grows by one, on top of what is done with each event anyway. */
async function measureEvents(): Promise<void> {
  const counted = { events: 0 };
  const counter = new SdkMeterProvider({ readers: [new Collector()] })
    .getMeter('bench')
    .createCounter('events');
  const labels = { transport: 'sse', role: 'server', route: '/mcp' };
  const scan = (event: () => void) => () => {
    const scanner = new SseScanner({ event }, { payload: 'none' });
    for (const chunk of CHUNKS) scanner.push(chunk);
  };
  const passes = {
    scan: scan(() => {}),
    'scan, ++ on a field': scan(() => {
      counted.events++;
    }),
    'scan, counter.add': scan(() => counter.add(1, labels)),
  };
  const slices = await interleave(
    {
      scan: () => timed(passes.scan, 15),
      'scan, ++ on a field': () => timed(passes['scan, ++ on a field'], 15),
      'scan, counter.add': () => timed(passes['scan, counter.add'], 15),
    },
    PACE,
  );
  heading('Counting: nanoseconds for each event');
  const cpu = (name: keyof typeof slices): number[] => slices[name].map((s) => s.cpu / EVENTS);
  const rows = (['scan, ++ on a field', 'scan, counter.add'] as const).map((name) => [
    name,
    figure(median(cpu(name))),
    ...cells(spreadOf(differences(cpu(name), cpu('scan')))),
  ]);
  printTable(['what', 'ns', 'added: min', 'median', 'max'], rows);
  const added = spreadOf(differences(cpu('scan, ++ on a field'), cpu('scan')));
  judge('G10', 'a count for each event', added, { atMost: 10, unit: ' ns' });
  const counting = spreadOf(ratios(cpu('scan, ++ on a field'), cpu('scan')));
  judge('G10', 'scan and count / scan', counting, { atMost: 1.17 });
}

/** Instruments with attributes are called for connections and anomalies only. */
function countCalls(): void {
  const calls = { count: 0 };
  const recorder = recorderOn(countingProvider(calls));
  const timeline = createServerTimeline({ observer: recorder });
  const connection = openOne(timeline, recorder, '/calls');
  for (const chunk of CHUNKS) connection.push(chunk);
  const during = calls.count;
  connection.end('eof', 2);
  judgeFact('G10', `calls of instruments for ${EVENTS} events`, during === 0, `${during}`);
  const after = calls.count;
  judgeFact('G10', 'calls of instruments for a connection', after <= 1, `${after}`);
  recorder.disable();
}

/** G11: a connection whose span is not sampled. */
function measureGarbage(): void {
  const sampler = new AlwaysOffSampler();
  const tracer = new TracerProvider({ sampler }).getTracer('bench');
  const recorder = recorderOn(undefined, tracer);
  const told = createServerTimeline({ observer: recorder });
  const silent = createServerTimeline({ observer: SILENT });
  const cycle = (timeline: StreamTimeline, by: StreamRecorder | undefined): void => {
    const connection = openOne(timeline, by, '/garbage');
    connection.push(CHUNKS[0] as Uint8Array);
    connection.end('eof', 2);
  };
  const allocated = (timeline: StreamTimeline, by: StreamRecorder | undefined): number => {
    for (let n = 0; n < 3000; n++) cycle(timeline, by);
    gc?.();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 2000; n++) cycle(timeline, by);
    return (process.memoryUsage().heapUsed - before) / 2000;
  };
  const rounds = Array.from(
    { length: 5 },
    () => allocated(told, recorder) - allocated(silent, undefined) - garbageOfSpan(tracer),
  );
  const share = spreadOf(rounds);
  heading('Garbage of telling a connection whose span is not sampled, less the span, in bytes');
  printTable(['min', 'median', 'max'], [cells(share)]);
  judge('G11', 'garbage of an unsampled connection', share, { atMost: KIBIBYTE, unit: ' B' });
  recorder.disable();
}

/** What the SDK itself makes of a span with the attributes that samplers may decide by. */
function garbageOfSpan(tracer: Tracer): number {
  const start = (): void =>
    tracer
      .startSpan('bench', {
        attributes: {
          'event_stream.protocol.name': 'sse',
          'event_stream.role': 'server',
          'event_stream.connection.ordinal': 1,
          'event_stream.resume.requested': false,
        },
      })
      .end();
  for (let n = 0; n < 3000; n++) start();
  gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < 2000; n++) start();
  return (process.memoryUsage().heapUsed - before) / 2000;
}

async function measureCollection(): Promise<void> {
  const collector = new Collector();
  const recorder = recorderOn(new SdkMeterProvider({ readers: [collector] }));
  const timeline = createServerTimeline({ observer: recorder });
  const times: number[] = [];
  const open = Array.from({ length: STREAMS }, (_, n) => openOne(timeline, recorder, `/c/${n}`));
  for (let n = 0; n < 30; n++) {
    for (const connection of open) connection.push(CHUNKS[n] as Uint8Array);
    const started = performance.now();
    await collector.collect();
    if (n >= 10) times.push(1000 * (performance.now() - started));
  }
  heading(`One collection of metrics with ${STREAMS} streams open, in microseconds`);
  printTable(['min', 'median', 'max'], [cells(spreadOf(times))]);
  recorder.disable();
}

function recorderOn(meters: MeterProvider | undefined, tracer?: Tracer): StreamRecorder {
  const recorder = createRecorder({ name: 'bench', version: '0', roles: ['server'] });
  if (meters !== undefined) recorder.setMeterProvider(meters);
  if (tracer !== undefined) recorder.setTracer(tracer);
  return recorder;
}

function openOne(
  timeline: StreamTimeline,
  recorder: StreamRecorder | undefined,
  target: string,
): StreamConnection {
  const header = (name: string): string | undefined =>
    name === 'accept' ? 'text/event-stream' : undefined;
  const connection = timeline.open(
    { transport: 'sse', method: 'GET', origin: '', target, header },
    1,
  );
  recorder?.opened(connection, { context: ROOT_CONTEXT });
  connection.response(200, (name) => (name === 'content-type' ? 'text/event-stream' : undefined));
  return connection;
}

/** Counts every call that carries attributes. */
function countingProvider(calls: { count: number }): MeterProvider {
  const noop = createNoopMeter();
  const count = (): void => {
    calls.count++;
  };
  const meter: Meter = Object.assign(Object.create(noop) as Meter, {
    createCounter: (): Counter => ({ add: count }),
    createHistogram: (): Histogram => ({ record: count }),
  });
  return { getMeter: () => meter };
}
