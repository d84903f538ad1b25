// What does reading a stream with fetch cost, and is every event seen whoever reads it?
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { createParser } from 'eventsource-parser';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { Child } from './lib/child.ts';
import { fetchedBody } from './lib/fetched-body.ts';
import type { Slice } from './lib/interleave.ts';
import { cpuNow, interleave } from './lib/interleave.ts';
import {
  cells,
  figure,
  finish,
  heading,
  judge,
  judgeFact,
  noise,
  printTable,
} from './lib/report.ts';
import { differences, median, ratios, spreadOf } from './lib/spread.ts';

type Consume = (body: ReadableStream<Uint8Array>) => Promise<void>;
type Tap = 'none' | 'identity id' | 'identity payload';

interface Source {
  readonly name: string;
  readonly size: number;
  readonly events: number;
  readonly rounds: number;
  /** For the ratio with identity `id`: plain readers, and parsers. */
  readonly limits: readonly [reader: number, parser: number];
  readonly open: () => Promise<ReadableStream<Uint8Array>>;
}

class Collector extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const consumers: Readonly<Record<string, Consume>> = {
  reader: async (body) => {
    const reader = body.getReader();
    while (!(await reader.read()).done);
  },
  'for await': async (body) => {
    for await (const chunk of body) void chunk;
  },
  'reader and parser': async (body) => {
    const decoder = new TextDecoder();
    const parser = createParser({ onEvent: () => undefined });
    for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
  },
  'parser streams': async (body) => {
    const text = body.pipeThrough(new TextDecoderStream() as never);
    for await (const event of text.pipeThrough(new EventSourceParserStream() as never)) void event;
  },
};
// Bytes held by the application alone cannot be told from those of a tap, so one row is enough.
const STREAM = { headers: { accept: 'text/event-stream' } };
const OVER_NETWORK = ['reader', 'parser streams'];

const collector = new Collector();
const meters = new MeterProvider({ readers: [collector] });
const instrumentations = {
  'identity id': instrumentation('id'),
  'identity payload': instrumentation('payload'),
};
const source = await Child.start('sse-source.ts', {}, 1);

const rows: string[][] = [];
for (const stream of sources()) {
  for (const consumer of Object.keys(consumers)) {
    if (stream.name !== 'network' || OVER_NETWORK.includes(consumer)) {
      await measure(stream, consumer);
    }
  }
}
heading('Client: CPU for each event, ratio to no instrumentation');
printTable(
  [
    'source',
    'event',
    'consumer',
    'tap',
    'us/event',
    'CPU: min',
    'median',
    'max',
    'added ns',
    'seen',
  ],
  rows,
);
await source.stop();
finish();

function sources(): Source[] {
  const inProcess = { name: 'in process', events: 3000, rounds: 15 };
  const network = { name: 'network', events: 500, rounds: 20, limits: [1.05, 1.05] as const };
  const url = (size: number): string => `http://127.0.0.1:${source.port}/spread/${size}/500`;
  return [
    { ...inProcess, size: 60, limits: [1.25, 1.1], open: async () => fetchedBody(60, 3000) },
    { ...inProcess, size: 1024, limits: [1.35, 1.1], open: async () => fetchedBody(1024, 3000) },
    { ...network, size: 60, open: async () => bodyOf(await fetch(url(60), STREAM)) },
  ];
}

async function measure(stream: Source, consumer: string): Promise<void> {
  const { name, size, events, rounds, limits } = stream;
  const seenBefore = await eventsSeen();
  let sent = 0;
  const slice = async (tap: Tap): Promise<Slice> => {
    if (tap === 'none') return read(stream, consumer);
    sent += events;
    instrumentations[tap].enable();
    const cost = await read(stream, consumer);
    instrumentations[tap].disable();
    return cost;
  };
  const variants = {
    none: () => slice('none'),
    'none again (A/A)': () => slice('none'),
    'identity id': () => slice('identity id'),
    'identity payload': () => slice('identity payload'),
  };
  const costs = await interleave(variants, { rounds, warmup: 4 });
  const seen = (await eventsSeen()) - seenBefore;
  const base = costs.none.map((cost) => cost.cpu);
  for (const tap of ['none again (A/A)', 'identity id', 'identity payload'] as const) {
    const cpu = costs[tap].map((cost) => cost.cpu);
    const ratio = spreadOf(ratios(cpu, base));
    const more = figure(median(differences(cpu, base)));
    const share = tap.startsWith('none') ? '' : `${seen} of ${sent}`;
    const each = figure(median(cpu) / 1000);
    rows.push([name, `${size} B`, consumer, tap, each, ...cells(ratio), more, share]);
    if (tap.startsWith('none')) noise(`${name}, ${size} B, ${consumer}`, ratio);
    if (tap !== 'identity id') continue;
    const atMost = consumer.includes('parser') ? limits[1] : limits[0];
    judge('G7', `${name}, ${size} B, ${consumer}`, ratio, { atMost });
  }
  judgeFact('G7', `events seen, ${name}, ${size} B, ${consumer}`, seen === sent, `${seen}/${sent}`);
}

async function read({ open, events }: Source, consumer: string): Promise<Slice> {
  const started = performance.now();
  const cpu = cpuNow();
  await consumers[consumer]?.(await open());
  return {
    cpu: (cpuNow() - cpu) / events,
    wall: (1e6 * (performance.now() - started)) / events,
  };
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  if (body === null) throw new Error('the source sent no body');
  return body;
}

function instrumentation(identity: 'id' | 'payload'): SseInstrumentation {
  const made = new SseInstrumentation({ identity, server: false });
  made.setMeterProvider(meters);
  made.disable();
  return made;
}

/** As an exporter would be told, over both instrumentations. */
async function eventsSeen(): Promise<number> {
  const { resourceMetrics } = await collector.collect();
  let seen = 0;
  for (const { descriptor, dataPoints } of resourceMetrics.scopeMetrics.flatMap((s) => s.metrics)) {
    if (descriptor.name !== 'event_stream.client.received_events') continue;
    for (const { value } of dataPoints) seen += Number(value);
  }
  return seen;
}
