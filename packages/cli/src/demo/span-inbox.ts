import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly attributes: SpanAttributes;
}

/** Receives what the processes of the demo export, by OTLP over HTTP in JSON. */
export interface SpanInbox {
  readonly endpoint: string;
  /** The first span that fits, whether it has come already or is still to come. */
  find(fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  /** Why the endpoint of the environment did not get its copies, if it did not. */
  readonly trouble: string | undefined;
  close(): Promise<void>;
}

/** @param copyTo Base URL of a collector that shall get everything too, such as Jaeger's. */
export async function startSpanInbox(copyTo: string | undefined): Promise<SpanInbox> {
  const received: ReceivedSpan[] = [];
  const waiting: Array<(span: ReceivedSpan) => void> = [];
  let trouble: string | undefined;
  const server = createServer((request, response) => {
    void bodyOf(request, response).then(async (body) => {
      for (const span of spansOf(body)) {
        received.push(span);
        for (const offer of [...waiting]) offer(span);
      }
      if (copyTo !== undefined) trouble = (await copy(body, copyTo)) ?? trouble;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    find: (fits) => {
      const there = received.find(fits);
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => {
        waiting.push((span) => {
          if (fits(span)) resolve(span);
        });
      });
    },
    get trouble() {
      return trouble;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage, response: ServerResponse): Promise<string> {
  request.setEncoding('utf8');
  let body = '';
  for await (const chunk of request) body += chunk;
  response.setHeader('content-type', 'application/json').end('{}');
  return body;
}

/** @returns What went wrong. */
async function copy(body: string, base: string): Promise<string | undefined> {
  try {
    const { ok, status } = await fetch(`${base.replace(/\/$/, '')}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return ok ? undefined : `HTTP ${status}`;
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

interface TracePayload {
  readonly resourceSpans?: ReadonlyArray<{
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: ReadonlyArray<{
      readonly spans: ReadonlyArray<{
        readonly name: string;
        readonly traceId: string;
        readonly attributes: readonly KeyValue[];
      }>;
    }>;
  }>;
}

function spansOf(body: string): ReceivedSpan[] {
  const { resourceSpans = [] } = JSON.parse(body) as TracePayload;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ name, traceId, attributes }) => {
        return { service, name, traceId, attributes: attributesOf(attributes) };
      });
  });
}

function attributesOf(list: readonly KeyValue[]): SpanAttributes {
  return Object.fromEntries(
    list.flatMap(({ key, value }) => Object.values(value).map((held) => [key, held] as const)),
  );
}
