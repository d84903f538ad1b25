import type { IncomingMessage, ServerResponse } from 'node:http';
import { loopback } from './loopback.ts';

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface CollectedSpan {
  readonly scope: string;
  readonly name: string;
  /** As OTLP counts them: 1 INTERNAL, 2 SERVER, 3 CLIENT. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Attributes;
  readonly resource: Attributes;
}

export interface CollectedPoint {
  readonly scope: string;
  readonly metric: string;
  readonly value: number;
  readonly attributes: Attributes;
}

/** Receives OTLP over HTTP in JSON, as a collector does, and remembers all of it. */
export interface OtlpCollector {
  readonly spans: readonly CollectedSpan[];
  /** Of counters and gauges: one for each export. */
  readonly points: readonly CollectedPoint[];
  /** Event names of log records. */
  readonly events: readonly string[];
  /** Variables that make an SDK send to it. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}
interface Scoped {
  readonly scope: { readonly name: string };
}
interface OtlpSpan extends Omit<CollectedSpan, 'scope' | 'attributes' | 'resource'> {
  readonly attributes: readonly KeyValue[];
}
interface OtlpData {
  readonly dataPoints: ReadonlyArray<{
    readonly asInt?: string | number;
    readonly asDouble?: number;
    readonly attributes: readonly KeyValue[];
  }>;
}
interface Payload {
  readonly resourceSpans?: ReadonlyArray<{
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: ReadonlyArray<Scoped & { readonly spans: readonly OtlpSpan[] }>;
  }>;
  readonly resourceMetrics?: ReadonlyArray<{
    readonly scopeMetrics: ReadonlyArray<
      Scoped & {
        readonly metrics: ReadonlyArray<{
          readonly name: string;
          readonly sum?: OtlpData;
          readonly gauge?: OtlpData;
        }>;
      }
    >;
  }>;
  readonly resourceLogs?: ReadonlyArray<{
    readonly scopeLogs: ReadonlyArray<{
      readonly logRecords: ReadonlyArray<{ readonly eventName?: string }>;
    }>;
  }>;
}

export async function otlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const points: CollectedPoint[] = [];
  const events: string[] = [];
  const receive = (payload: Payload): void => {
    spans.push(...spansOf(payload));
    points.push(...pointsOf(payload));
    events.push(...eventsOf(payload));
  };
  const { origin, close } = await loopback((request, response) =>
    answer(request, response, receive),
  );
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: origin, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  return { spans, points, events, env, close };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  receive: (payload: Payload) => void,
): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    receive(JSON.parse(Buffer.concat(chunks).toString()) as Payload);
    response.setHeader('content-type', 'application/json').end('{}');
  });
}

function spansOf({ resourceSpans = [] }: Payload): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map(({ name, kind, traceId, spanId, parentSpanId, attributes }) => ({
        scope: scope.name,
        name,
        kind,
        traceId,
        spanId,
        parentSpanId: parentSpanId || undefined,
        attributes: attributesOf(attributes),
        resource: attributesOf(resource.attributes),
      })),
    ),
  );
}

function pointsOf({ resourceMetrics = [] }: Payload): CollectedPoint[] {
  return resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ scope, metrics }) =>
      metrics.flatMap(({ name, sum, gauge }) =>
        ((sum ?? gauge)?.dataPoints ?? []).map(({ asInt, asDouble, attributes }) => ({
          scope: scope.name,
          metric: name,
          value: Number(asInt ?? asDouble),
          attributes: attributesOf(attributes),
        })),
      ),
    ),
  );
}

function eventsOf({ resourceLogs = [] }: Payload): string[] {
  return resourceLogs.flatMap(({ scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) => logRecords.flatMap(({ eventName }) => eventName ?? [])),
  );
}

/** Numbers come as text in OTLP's JSON when they are 64 bits wide. */
function attributesOf(list: readonly KeyValue[]): Attributes {
  return Object.fromEntries(
    list.flatMap(({ key, value }) => {
      const [type, held] = Object.entries(value)[0] ?? [];
      if (held === undefined) return [];
      return [[key, type === 'intValue' ? Number(held) : held] as const];
    }),
  );
}
