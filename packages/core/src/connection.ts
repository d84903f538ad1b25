import type { Migration } from './migration.ts';
import type { WrittenStream } from './origins/issued-ids.ts';
import type { Origin } from './origins/judge-origin.ts';
import type { Count, Verdict } from './verdict.ts';

export type Transport = 'sse' | 'websocket';
export type Role = 'client' | 'server';

/** Where a stream was left, as somebody kept it who outlived the timeline that saw it. */
export interface HeldPosition {
  readonly cursor: string | undefined;
  readonly epoch: string | undefined;
}

/** Case-insensitive: callers pass lower-case names. Repeated headers are joined with `, `. */
export type HeaderLookup = (name: string) => string | undefined;

export interface StreamRequest {
  readonly transport: Transport;
  readonly method: string;
  /** `scheme://host:port`; empty on a server. Never leaves the process (L4). */
  readonly origin: string;
  /** Path and query exactly as sent. */
  readonly target: string;
  /** Read during `open`, `redirect` and `response` only. */
  readonly header: HeaderLookup;
  /** The JSON value of the request body, asked for only by a profile that needs it. */
  readonly body?: () => unknown;
  /** The object that reconnects by itself (an EventSource, a transport), when the tap knows it (L2a). */
  readonly client?: object;
  /**
   * Makes the request a reconnect, with or without a cursor. What this timeline has seen of the
   * stream itself comes first.
   */
  readonly held?: HeldPosition;
}

/**
 * How a connection ended. `aborted`: the application asked for it. `open`: it outlived everything
 * else (transcripts only). `close:<code>`: a WebSocket close code.
 */
export type ConnectionEnd =
  | 'eof'
  | 'reset'
  | 'aborted'
  | 'idle_timeout'
  | 'open'
  | `close:${number}`;

/** What is known of one logical stream on one connection, at the moment it is reported. */
export interface StreamReport {
  /** Name of the logical stream where one connection carries several (R19), else `undefined`. */
  readonly stream: string | undefined;
  /** `undefined`: the first connection of its logical stream has no verdict. */
  readonly verdict: Verdict | undefined;
  readonly revised: boolean;
  readonly missed: Count;
  readonly duplicates: Count;
  /** True when the bounded history was exhausted: `duplicates` is a lower bound (G4). */
  readonly atLeast: boolean;
  readonly epoch: string | undefined;
  readonly previousEpoch: string | undefined;
  /** The epoch token stems from a session id: hashed by default wherever it is exported. */
  readonly epochIsSession: boolean;
  readonly requestedCursor: string | undefined;
  readonly firstCursor: string | undefined;
  readonly lastCursor: string | undefined;
  /** Server side: events written again before the first live one; `undefined` when not known. */
  readonly replayed: number | undefined;
  /** Only where the connection took the stream from one transport to the other (M1). */
  readonly migration?: Migration;
  /** Server side: the logical stream as this process writes it. */
  readonly written?: WrittenStream;
  /** Server side: the epoch that the log declares of itself. */
  readonly logEpoch?: string | undefined;
  /** Server side: who else is known to have issued the cursor (X1 to X4). */
  readonly origin?: Origin | undefined;
}

/** R20: what happened inside a connection after its reconnect was judged. */
export interface InStreamFinding {
  readonly kind: 'epoch_changed' | 'cursor_not_advanced';
  readonly missed: Count;
}

/**
 * Called synchronously by the timeline. Never throws into it: the timeline does not guard its
 * observer, the tap guards both.
 */
export interface StreamObserver {
  /** Once per logical stream of a connection: its verdict, or that a first connection is up. */
  settled(connection: StreamConnection, report: StreamReport): void;
  /** R16: a later proof turned the verdict into `reoriginated`; at most once. */
  revised(connection: StreamConnection, report: StreamReport): void;
  inStream(connection: StreamConnection, finding: InStreamFinding): void;
  /** Once per connection, with the final counts of each of its logical streams. */
  ended(connection: StreamConnection, end: ConnectionEnd, reports: readonly StreamReport[]): void;
}

/**
 * How much of a WebSocket's messages is looked at: what they say (`messages`), one member of their
 * JSON and whether one equals another (`member`), only the latter (`identity`), or nothing but that
 * they came.
 */
export type MessageUse = 'messages' | 'member' | 'identity' | 'nothing';

export type MessageData = string | Uint8Array | undefined;

/** Messages that a tap counts by itself, read whenever somebody wants to know. */
export interface MessageCounter {
  readonly messages: number;
}

/**
 * One HTTP response body or one WebSocket as the timeline follows it. The tap feeds it, the
 * observer hears of it. `at` is milliseconds of a monotonic clock of the caller's choice.
 */
export interface StreamConnection {
  readonly role: Role;
  readonly transport: Transport;
  /** 0 for the first connection of its logical stream. May rise when a profile is confirmed. */
  readonly ordinal: number;
  /** True when the request carries a cursor. */
  readonly resumeRequested: boolean;
  /** Name of the profile in force: `sse` until something more specific is confirmed. */
  readonly protocol: string;
  /** No verdict is pending any more: no timer is needed. */
  readonly settled: boolean;
  /** Application events so far (control frames, comments and priming events are none). */
  readonly events: number;
  /** SSE: milliseconds after which the server last told the client to come back (S5). */
  readonly retry?: number | undefined;
  /** Events seen to repeat so far; a plain integer, read at collection time. */
  readonly repeated: number;
  /**
   * SSE: to be set before the body comes, by whoever wants to know the first event. Called once with
   * its name and data, and only where the stream begins with a name or a comment: others cost more to
   * look into. No text of it is kept.
   */
  opensWith?: ((name: string, data: string | undefined) => void) | undefined;
  /** Owner's slot (a span, say). Handed on to the successor as `previous`, also after the end. */
  context: unknown;
  /** The `context` of the connection before this one on the same logical stream. */
  readonly previous: unknown;

  /** L6: the attempt was redirected; same attempt, the key stays, the cursor is read again. */
  redirect(request: StreamRequest): void;
  /**
   * Response headers are in. Returns false when this is no stream and never will be: the caller
   * detaches and forgets the connection (the observer was told what there was to tell).
   */
  response(status: number, header: HeaderLookup): boolean;
  /** Body bytes, decoded from any content-encoding; nothing of `bytes` is kept. */
  push(bytes: Uint8Array): void;
  /** The same for text handed to `res.write`; may be mixed with `push`. */
  pushString(text: string): void;
  /**
   * WebSocket: what the next message is needed for. Changes while a protocol shows itself, so it is
   * asked before each message.
   */
  readonly reads: MessageUse;
  /**
   * WebSocket: whether the messages of the client, which name streams and cursors, are looked into;
   * the others need not be told. Without it, they are when `reads` is `messages`.
   */
  readonly readsRequests?: boolean;
  /**
   * WebSocket: one message from the peer; nothing of it is kept. Text is a string while `reads` is
   * `messages`; otherwise the bytes it came as will do. `undefined`: it cannot be looked into.
   *
   * @param isText Of bytes: they are those of a text.
   */
  message(data: MessageData, isText?: boolean): void;
  /** WebSocket: one message to the peer; the same holds. */
  sent(data: MessageData, isText?: boolean): void;
  /**
   * WebSocket: hands the counting over, once `reads` is `nothing` and the connection has settled:
   * no message needs to be told any more, `events` takes the counter's in. Called once at most.
   */
  countWith?(counter: MessageCounter): void;
  /** R16: `decisionTimeout` elapsed since the response without a verdict. */
  timeout(): void;
  /** @param at milliseconds; without it the time of `open` stands. */
  end(end: ConnectionEnd, at?: number): void;
}

export interface StreamTimeline {
  /** A cheap test for requests whose answer matters even when it is no stream (a 410, say). */
  wants(request: StreamRequest): boolean;
  open(request: StreamRequest, at: number): StreamConnection;
}
