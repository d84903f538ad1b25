import type { Context, Span } from '@opentelemetry/api';
import type { StreamConnection } from '@sameriver/core';
import type {
  ConnectionStart,
  InstrumentationErrorReason,
  StreamRecorder,
} from '@sameriver/telemetry';

/** What of a recorder the taps call. */
export type TapRecorder = Pick<
  StreamRecorder,
  'opened' | 'noResponse' | 'notStream' | 'attemptContext' | 'carriedBy' | 'instrumentationError'
>;

/** A recorder that remembers what it was told, and records nothing. */
export class RecordingRecorder implements TapRecorder {
  readonly starts = new Map<StreamConnection, ConnectionStart>();
  readonly unanswered = new Map<StreamConnection, string>();
  readonly noStreams = new Set<StreamConnection>();
  readonly carriers = new Map<StreamConnection, Span>();
  readonly errors: InstrumentationErrorReason[] = [];
  /** Gives each attempt its context. */
  contextFor: (connection: StreamConnection, start: ConnectionStart) => Context | undefined = () =>
    undefined;

  opened(connection: StreamConnection, start: ConnectionStart): void {
    this.starts.set(connection, start);
  }

  noResponse(connection: StreamConnection, errorType: string): void {
    this.unanswered.set(connection, errorType);
  }

  notStream(connection: StreamConnection): void {
    this.noStreams.add(connection);
  }

  attemptContext(connection: StreamConnection): Context | undefined {
    const start = this.starts.get(connection);
    return start && this.contextFor(connection, start);
  }

  carriedBy(connection: StreamConnection, span: Span): void {
    this.carriers.set(connection, span);
  }

  instrumentationError(reason: InstrumentationErrorReason): void {
    this.errors.push(reason);
  }
}
