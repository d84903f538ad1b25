import type { ConnectionEnd, Transport } from '../connection.ts';
import { SeenEvents } from '../history.ts';
import type { HistoryMemory } from '../history-memory.ts';
import type { CompiledProfile } from '../profile/compile.ts';

/** A connection that is over, as its successor needs it. */
export interface EndedConnection {
  readonly end: ConnectionEnd;
  readonly at: number;
  /** Last id it received. */
  readonly cursor: string | undefined;
  readonly context: unknown;
}

/** A connection of the stream that is still open, as another one may have to see it. */
export interface OpenConnection {
  readonly cursor: string | undefined;
  readonly context: unknown;
}

/** What is known of one logical stream (or of one of several on a connection) across connections. */
export class StreamState {
  /** Last epoch token seen; refused attempts leave it alone. */
  heldEpoch: string | undefined;
  /** Last id received; empty when the server cleared it. */
  lastId: string | undefined;
  /** Some event carried an id of its own. */
  hasIds = false;
  /** Equal payloads are normal on this stream, so they identify nothing (G2). */
  repeatsPayload = false;
  /** Ids are not unique on this stream (R8). */
  reusesIds = false;
  /** Number of the next message, where a protocol counts without writing the numbers. */
  counter: bigint | undefined;
  readonly seen: SeenEvents;
  /** Idempotency keys, where the configuration names their place. */
  eventKeys: SeenEvents | undefined;

  constructor(history: HistoryMemory) {
    this.seen = new SeenEvents(history);
  }

  release(): void {
    this.seen.release();
    this.eventKeys?.release();
  }
}

/** That a connection takes its stream from SSE to a WebSocket (M1). */
export interface Move {
  /** Milliseconds: when the upgrade was asked for. */
  readonly askedAt: number;
}

/** What an accepted request to move said; the WebSocket that follows need not repeat it. */
export interface Handover extends Move {
  /** The cursor that crossed over (M3). */
  readonly cursor: string | undefined;
  readonly epoch: string | undefined;
}

/** Tags of where a stream is asked for. */
export interface Whereabouts {
  /** Origin and path. */
  readonly place: number;
  readonly origin: number;
  readonly session: number;
}

// Arrays are made by `concat`, which takes what it needs: a literal with a spread in it takes 150
// bytes for a single element.
const REMEMBERED_ENDS = 4;
const NONE: readonly never[] = [];

/**
 * What the consumer believes it is reading across connections. Lives in an intrusive list of closed
 * streams while none of its connections is open, so that the longest closed can be forgotten first.
 */
export class LogicalStream extends StreamState {
  /** Tags of the keys under which it can be found, and of its place. */
  keys: readonly number[] = NONE;
  readonly place: number;
  /** Tags of its server and of the session there, 0 without one: where a move looks last (M1). */
  readonly origin: number;
  readonly session: number;
  /** What the latest connection that came to be was carried by. */
  transport: Transport | undefined;
  /** A move was announced and accepted, and nobody has made it yet. */
  handover: Handover | undefined;
  named: Map<string, StreamState> | undefined;
  profile: CompiledProfile | undefined;
  /** Signs met so far, a bit mask for each profile that is not confirmed yet. */
  signs: Map<CompiledProfile, number> | undefined;
  connections = 0;
  /** Mostly one, so an array beats a set by 200 bytes. */
  open: readonly OpenConnection[] = NONE;
  /** Newest first. */
  ended: readonly EndedConnection[] = NONE;
  /** Whether it stands in the list of closed streams. */
  listed = false;
  older: LogicalStream | undefined;
  newer: LogicalStream | undefined;
  readonly #history: HistoryMemory;

  constructor({ place, origin, session }: Whereabouts, history: HistoryMemory) {
    super(history);
    this.place = place;
    this.origin = origin;
    this.session = session;
    this.#history = history;
  }

  /** Its state as that of a connection which is one stream, or of what no frame names. */
  get main(): StreamState {
    return this;
  }

  /** @returns the state of a stream inside the connection, and whether it was known before. */
  state(name: string): { state: StreamState; known: boolean } {
    this.named ??= new Map();
    const found = this.named.get(name);
    if (found) return { state: found, known: true };
    const state = new StreamState(this.#history);
    this.named.set(name, state);
    return { state, known: false };
  }

  remember(connection: EndedConnection): void {
    this.ended = [connection].concat(this.ended.slice(0, REMEMBERED_ENDS - 1));
  }

  join(connection: OpenConnection): void {
    this.open = this.open.concat(connection);
  }

  leave(connection: OpenConnection): void {
    this.open = this.open.filter((other) => other !== connection);
  }

  /** Gives the memory of its events back, when nobody will ask for it any more. */
  override release(): void {
    super.release();
    for (const state of this.named?.values() ?? []) state.release();
  }
}
