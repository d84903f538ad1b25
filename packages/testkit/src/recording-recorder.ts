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
  readonly starts: Map<StreamConnection, ConnectionStart> = new Map();
  readonly unanswered: Map<StreamConnection, string> = new Map();
  readonly noStreams: Set<StreamConnection> = new Set();
  readonly carriers: Map<StreamConnection, Span> = new Map();
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
