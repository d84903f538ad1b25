import type { ConnectionEnd, Transport } from '../connection.ts';
import { SeenEvents } from '../history.ts';
import type { HistoryMemory } from '../history-memory.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Held } from './lane-evidence.ts';

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
  /** Last `gen` of a Stream-Continuity that was seen. */
  heldGen: string | undefined;
  /** A token from before this timeline, of which nobody can say what kind it is. */
  heldUntold: string | undefined;
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

  /** As it is now: a connection is judged by what was held when it began. */
  get held(): Held {
    const { heldEpoch: epoch, heldGen: gen, heldUntold: untold, lastId } = this;
    return { epoch, gen, untold, lastId };
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

// Mostly there is one key, one connection and one end: a field beats an array of one by 60 bytes.
const REMEMBERED_ENDS = 4;
const NONE: readonly never[] = [];

/**
 * What the consumer believes it is reading across connections. Lives in an intrusive list of closed
 * streams while none of its connections is open, so that the longest closed can be forgotten first.
 */
export class LogicalStream extends StreamState {
  /** Tag of its place. */
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
  lastEnd: EndedConnection | undefined;
  /** Whether it stands in the list of closed streams. */
  listed = false;
  older: LogicalStream | undefined;
  newer: LogicalStream | undefined;
  #key: number | undefined;
  #furtherKeys: readonly number[] = NONE;
  #connection: OpenConnection | undefined;
  #furtherConnections: readonly OpenConnection[] = NONE;
  #earlierEnds: readonly EndedConnection[] = NONE;
  readonly #history: HistoryMemory;

  constructor({ place, origin, session }: Whereabouts, history: HistoryMemory) {
    super(history);
    this.place = place;
    this.origin = origin;
    this.session = session;
    this.#history = history;
  }

  /** Tags of the keys under which it can be found. */
  get keys(): readonly number[] {
    return this.#key === undefined ? NONE : [this.#key, ...this.#furtherKeys];
  }

  /** The one that came first leads. */
  get open(): readonly OpenConnection[] {
    return this.#connection === undefined ? NONE : [this.#connection, ...this.#furtherConnections];
  }

  get isOpen(): boolean {
    return this.#connection !== undefined;
  }

  /** Newest first. */
  get ended(): readonly EndedConnection[] {
    return this.lastEnd === undefined ? NONE : [this.lastEnd, ...this.#earlierEnds];
  }

  get wasLeft(): boolean {
    return this.lastEnd !== undefined;
  }

  addKey(key: number): void {
    this.#key ??= key;
    if (key === this.#key || this.#furtherKeys.includes(key)) return;
    this.#furtherKeys = [...this.#furtherKeys, key];
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
    if (this.lastEnd !== undefined) {
      this.#earlierEnds = [this.lastEnd, ...this.#earlierEnds].slice(0, REMEMBERED_ENDS - 1);
    }
    this.lastEnd = connection;
  }

  join(connection: OpenConnection): void {
    if (this.#connection === undefined) this.#connection = connection;
    else this.#furtherConnections = [...this.#furtherConnections, connection];
  }

  leave(connection: OpenConnection): void {
    const [first, ...further] = this.open.filter((other) => other !== connection);
    this.#connection = first;
    this.#furtherConnections = further.length === 0 ? NONE : further;
  }

  /** Gives the memory of its events back, when nobody will ask for it any more. */
  override release(): void {
    super.release();
    for (const state of this.named?.values() ?? []) state.release();
  }
}
