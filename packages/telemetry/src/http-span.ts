import type { Span } from '@opentelemetry/api';
import { SpanKind, trace } from '@opentelemetry/api';

/** What the spans of every SDK carry beyond the API; 1.x names the scope differently. */
interface SdkSpan {
  readonly kind?: unknown;
  readonly instrumentationScope?: { readonly name?: unknown };
  readonly instrumentationLibrary?: { readonly name?: unknown };
}

/** The active span, when it is one that an HTTP instrumentation made for the request under way. */
export function activeHttpSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  if (span === undefined) return undefined;
  const { kind, instrumentationScope, instrumentationLibrary } = span as Span & SdkSpan;
  const scope = instrumentationScope?.name ?? instrumentationLibrary?.name;
  const http = typeof scope === 'string' && scope.endsWith('/instrumentation-http');
  return http && kind === SpanKind.CLIENT ? span : undefined;
}
