/** A span as the query API of Jaeger gives it. */
export interface JaegerSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly service: string;
  readonly name: string;
  readonly tags: Readonly<Record<string, string | number | boolean>>;
  readonly references: readonly Reference[];
}

interface Reference {
  readonly refType: 'CHILD_OF' | 'FOLLOWS_FROM';
  readonly traceID: string;
  readonly spanID: string;
}

export type JaegerTrace = readonly JaegerSpan[];

interface TracePayload {
  readonly traceID: string;
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
  readonly spans: ReadonlyArray<{
    readonly spanID: string;
    readonly operationName: string;
    readonly processID: string;
    readonly references?: readonly Reference[];
    readonly tags: ReadonlyArray<{
      readonly key: string;
      readonly value: string | number | boolean;
    }>;
  }>;
}

/** What a person types into the field "Tags" of the search: logfmt, all of it has to fit. */
export function tagsOf(search: string): Record<string, string> {
  return Object.fromEntries(
    search.split(' ').map((pair) => {
      const equals = pair.indexOf('=');
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

/** Asks as the search page of Jaeger does. */
export async function searchTraces(
  query: string,
  service: string,
  search: string,
): Promise<readonly JaegerTrace[]> {
  const url = new URL('/api/traces', query);
  url.searchParams.set('service', service);
  url.searchParams.set('tags', JSON.stringify(tagsOf(search)));
  return await tracesAt(url);
}

export async function servicesOf(query: string): Promise<readonly string[]> {
  const response = await fetch(new URL('/api/services', query));
  const { data } = (await response.json()) as { readonly data: readonly string[] | null };
  return data ?? [];
}

/** @returns Absent when Jaeger does not know it. */
export async function traceById(query: string, traceId: string): Promise<JaegerTrace | undefined> {
  const [trace] = await tracesAt(new URL(`/api/traces/${traceId}`, query));
  return trace;
}

async function tracesAt(url: URL): Promise<readonly JaegerTrace[]> {
  const response = await fetch(url);
  if (response.status === 404) return [];
  const { data } = (await response.json()) as { readonly data: readonly TracePayload[] };
  return data.map(({ traceID, spans, processes }) =>
    spans.map((span) => ({
      traceId: traceID,
      spanId: span.spanID,
      service: processes[span.processID]?.serviceName ?? '',
      name: span.operationName,
      tags: Object.fromEntries(span.tags.map(({ key, value }) => [key, value])),
      references: span.references ?? [],
    })),
  );
}
