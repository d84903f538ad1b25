// What does one reconnect cost in all: its verdict, spans, log record and metrics, against the spans alone?
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { StreamRequest, StreamTimeline } from '@sameriver/core';
import { createClientTimeline, createServerTimeline } from '@sameriver/core';
import type { StreamRecorder } from '@sameriver/telemetry';
import { createRecorder } from '@sameriver/telemetry';
import type { Slice } from './lib/interleave.ts';
import { interleave, timed } from './lib/interleave.ts';
import { cells, figure, finish, heading, judge, noise, printTable } from './lib/report.ts';
import { differences, median, ratios, spreadOf } from './lib/spread.ts';

class ManualReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const MOST_MICROSECONDS = 15;
const STREAMS = 200;
const PACE = { rounds: 25, warmup: 12 };

const exporter = {
  export: (_spans: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve(),
};
const tracers = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
const tracer = tracers.getTracer('bench');

interface Follower {
  readonly timeline: StreamTimeline;
  readonly recorder: StreamRecorder;
}

function followerOf(role: 'client' | 'server'): Follower {
  const recorder = createRecorder({ name: 'bench', roles: [role] });
  recorder.setTracer(tracer);
  recorder.setMeterProvider(new MeterProvider({ readers: [new ManualReader()] }));
  recorder.setLogger({ emit: () => {}, enabled: () => true });
  const create = role === 'client' ? createClientTimeline : createServerTimeline;
  return { timeline: create({ observer: recorder }), recorder };
}

const EVENT = Buffer.from('id: 6\ndata: {"task":6}\n\n');
const ATTRIBUTES = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`attribute.${n}`, n]));

function requestOf(n: number): StreamRequest {
  const header = (name: string): string | undefined => {
    if (name === 'accept') return 'text/event-stream';
    return name === 'last-event-id' ? '5' : undefined;
  };
  return { transport: 'sse', method: 'GET', origin: 'http://bench', target: `/feed/${n}`, header };
}

/** One reconnect of each stream. */
function reconnects({ timeline, recorder }: Follower): void {
  for (let n = 0; n < STREAMS; n++) {
    const connection = timeline.open(requestOf(n), 1);
    recorder.opened(connection, { context: ROOT_CONTEXT });
    connection.response(200, (name) => (name === 'content-type' ? 'text/event-stream' : undefined));
    connection.push(EVENT);
    connection.end('reset', 2);
  }
}

/** The spans that a reconnect makes, with as many attributes and a link, by hand. */
function spansOf(role: 'client' | 'server'): void {
  const link = tracer.startSpan('before').spanContext();
  for (let n = 0; n < STREAMS; n++) {
    const options = { attributes: { a: 1, b: 2 }, links: [{ context: link }] };
    const root = tracer.startSpan('root', { ...options, root: true }, ROOT_CONTEXT);
    if (role === 'client') {
      const below = trace.setSpan(ROOT_CONTEXT, root);
      const span = tracer.startSpan('connect', { ...options, kind: SpanKind.CLIENT }, below);
      span.setAttributes(ATTRIBUTES).end();
    } else root.setAttributes(ATTRIBUTES);
    root.end();
  }
}

heading('Cost of a reconnect: verdict, spans, log record, metrics');
const rows: string[][] = [];
for (const role of ['client', 'server'] as const) {
  const follower = followerOf(role);
  const run = (pass: () => void) => (): Slice => timed(pass, 4);
  const costs = await interleave(
    {
      spans: run(() => spansOf(role)),
      again: run(() => spansOf(role)),
      reconnect: run(() => reconnects(follower)),
    },
    PACE,
  );
  const each = (name: keyof typeof costs): number[] =>
    costs[name].map(({ cpu }) => cpu / STREAMS / 1000);
  const more = spreadOf(differences(each('reconnect'), each('spans')));
  noise(role, spreadOf(ratios(each('again'), each('spans'))));
  rows.push([
    role,
    figure(median(each('spans'))),
    figure(median(each('reconnect'))),
    ...cells(more),
  ]);
  judge('reconnect', `${role}: beyond its spans`, more, { atMost: MOST_MICROSECONDS, unit: ' us' });
}
printTable(['side', 'spans, us', 'in all, us', 'more: min', 'median', 'max'], rows);
finish();
