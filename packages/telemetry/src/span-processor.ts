import type { Context, Span } from '@opentelemetry/api';
import { createContextKey, SpanKind, trace } from '@opentelemetry/api';

/** Put into the context of an attempt by the recorder. */
interface Attempt {
  /** Span id of the connect span. */
  readonly parent: string;
  carriedBy(span: Span): void;
}

const ATTEMPT = createContextKey('Same River stream attempt');

/** @returns `context`, in which a CLIENT child of the span `parent` is handed to `carriedBy`. */
export function withAttempt(
  context: Context,
  parent: string,
  carriedBy: (span: Span) => void,
): Context {
  return context.setValue(ATTEMPT, { parent, carriedBy } satisfies Attempt);
}

/**
 * Finds the HTTP client span that an HTTP instrumentation makes for an attempt, so that the verdict
 * can be set on it. Add it to the span processors of the SDK (2.x or 3.x); it exports nothing.
 */
export class StreamSpanProcessor {
  onStart(span: Span & { readonly kind?: SpanKind }, parentContext: Context): void {
    const attempt = parentContext.getValue(ATTEMPT) as Attempt | undefined;
    if (attempt === undefined || span.kind !== SpanKind.CLIENT) return;
    // The key is inherited by whatever the request causes; only its own span is a direct child.
    if (trace.getSpanContext(parentContext)?.spanId !== attempt.parent) return;
    attempt.carriedBy(span);
  }

  onEnd(): void {}

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}
