import type { Context, Tracer } from '@opentelemetry/api';
import { createContextKey, ProxyTracer, trace } from '@opentelemetry/api';

export interface TracerBinding {
  /** A tracer with an SDK behind it, or `undefined`: without one a span would cost for nothing. */
  current(): Tracer | undefined;
  use(tracer: Tracer): void;
}

export function createTracerBinding(scope: {
  readonly name: string;
  readonly version?: string;
}): TracerBinding {
  let bound: Tracer | undefined;

  function use(tracer: Tracer): void {
    // The API hands out proxies until a provider is registered, and that provider's own after it.
    if (!(tracer instanceof ProxyTracer)) bound = tracer;
  }

  return {
    current() {
      if (bound === undefined) use(trace.getTracer(scope.name, scope.version));
      return bound;
    },
    use,
  };
}

/** The key of `@opentelemetry/core`, which is found by its description. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** An exporter's own requests are marked so; nothing of them may be told, in no signal. */
export function isSuppressed(context: Context): boolean {
  return context.getValue(SUPPRESS_TRACING) === true;
}
