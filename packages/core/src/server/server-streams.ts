import type { StreamRequest, Transport } from '../connection.ts';
import type { HistoryMemory } from '../history-memory.ts';
import { idTagOf } from '../id-tag.ts';
import type { WrittenStream } from '../origins/issued-ids.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { keyOf, keyTagOf, placeOf, sessionOf } from '../timeline/key.ts';
import type { Handover } from '../timeline/logical-stream.ts';
import { announcesMove, mayMove } from '../timeline/move.ts';
import type { RequestFacts } from '../timeline/request-facts.ts';
import { numberedBy, WrittenLog } from './written-log.ts';

/** A logical stream as its server sees it: whoever reads it, one log is written to them. */
export interface ServerStream extends WrittenStream {
  /** Tag of the key under which it is found; 0 for an answer, which is found by its place. */
  readonly key: number;
  /** The same, of an answer that of the GET which goes on with it; 0 without a session. */
  readonly tag: number;
  readonly log: WrittenLog;
  open: number;
  /** Not found any more by anybody; its log is given back with its last connection. */
  isForgotten: boolean;
  connections: number;
  lastContext: unknown;
  /** What the latest connection that came to be is carried by, and that one while it is open. */
  transport: Transport | undefined;
  carrier: Carrier | undefined;
  /** A move to a WebSocket was announced and accepted, and nobody has made it yet (M1). */
  handover: Handover | undefined;
}

/** A connection that carries a stream. */
export interface Carrier {
  readonly transport: Transport;
  readonly context: unknown;
  /** Its reader goes on elsewhere: what others are sent from now on is no gap of this one. */
  leave(): void;
}

/** Streams of POST answers that one place may be asked to resume. */
const ANSWERS_REMEMBERED = 16;

/**
 * Streams looked at for one to forget, at each close. Those still read go to the back, or one that is
 * read for days would keep all that came after it; two, as some of them lie between the others.
 */
const SEEN_AT_A_CLOSE = 2;

/**
 * Finds the logical stream that a request reads: path, query and session header for what is asked
 * for by GET (a broadcast, when there is no session). The answer to a POST is a stream of its own,
 * resumed by a GET that carries one of its ids.
 */
export class ServerStreams {
  readonly #byKey = new Map<number, ServerStream>();
  readonly #answers = new Map<number, ServerStream[]>();
  /** By the tag of a session, the stream that it reads as server-sent events. */
  readonly #sessions = new Map<number, ServerStream>();
  readonly #limit: number;
  readonly #memory: HistoryMemory;
  readonly #streamKey: ((request: StreamRequest) => string | undefined) | undefined;

  /** @param limit Streams to remember that nobody reads. */
  constructor(
    limit: number,
    memory: HistoryMemory,
    streamKey: ((request: StreamRequest) => string | undefined) | undefined,
  ) {
    this.#limit = limit;
    this.#memory = memory;
    this.#streamKey = streamKey;
  }

  open(
    request: StreamRequest,
    facts: RequestFacts,
    cursor: string | undefined,
    profile: CompiledProfile,
  ): ServerStream {
    const own = this.#streamKey?.(request);
    const readable: RequestFacts = facts.method === 'GET' ? facts : { ...facts, method: 'GET' };
    const key =
      own ?? keyOf(readable, profile.builtIn && profile.key === undefined ? undefined : profile);
    const tag = keyTagOf(key);
    const stream =
      this.#movingTo(tag, facts, cursor) ?? this.#find(tag, facts, cursor, own !== undefined);
    this.#noteSession(facts, stream);
    stream.open++;
    this.#memory.opened();
    return stream;
  }

  /** R19: a stream inside a connection that carries several. */
  openNamed({ key }: ServerStream, name: string): ServerStream {
    const named = keyTagOf(`${key} ${name}`);
    const stream = this.#byKey.get(named) ?? this.#newShared(named);
    stream.open++;
    this.#memory.opened();
    return stream;
  }

  /** An answer opens the stream: this connection carries it now. */
  carry(stream: ServerStream, carrier: Carrier, { payload }: CompiledProfile): void {
    const { transport } = carrier;
    const isOther = stream.transport !== undefined && stream.transport !== transport;
    if (isOther && payload === undefined) stream.log.idsAlone = true;
    stream.transport = transport;
    stream.carrier = carrier;
    stream.handover = undefined;
  }

  close(stream: ServerStream, connection: Pick<Carrier, 'context'>): void {
    stream.open--;
    stream.lastContext = connection.context;
    if (stream.carrier === connection) stream.carrier = undefined;
    this.#memory.closed();
    if (stream.isForgotten && stream.open === 0) stream.log.release();
    if (stream.open === 0 && this.#byKey.get(stream.key) === stream) {
      this.#byKey.delete(stream.key);
      this.#byKey.set(stream.key, stream);
    }
    this.#evict();
  }

  #noteSession(facts: RequestFacts, stream: ServerStream): void {
    const session = sessionOf(facts);
    if (session === undefined || facts.transport !== 'sse' || facts.method !== 'GET') return;
    const tag = keyTagOf(session);
    this.#sessions.delete(tag);
    this.#sessions.set(tag, stream);
    if (this.#sessions.size <= this.#limit) return;
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }

  /**
   * M1: the stream of the same session on another path, for a request that says that it moves: it
   * announces the move, was announced, or carries a cursor that this stream has written.
   */
  #movingTo(
    key: number,
    facts: RequestFacts,
    cursor: string | undefined,
  ): ServerStream | undefined {
    const session = sessionOf(facts);
    if (session === undefined || !mayMove(facts) || this.#byKey.has(key)) return undefined;
    const stream = this.#sessions.get(keyTagOf(session));
    if (stream?.transport !== 'sse' || stream.isForgotten) return undefined;
    const isAnnounced = announcesMove(facts) || stream.handover !== undefined;
    if (!isAnnounced && (cursor === undefined || !holds(stream.log, cursor))) return undefined;
    if (facts.transport === 'websocket') this.#byKey.set(key, stream);
    return stream;
  }

  #find(
    key: number,
    facts: RequestFacts,
    cursor: string | undefined,
    isNamed: boolean,
  ): ServerStream {
    const found = this.#byKey.get(key);
    const shared = found?.isForgotten === true ? undefined : found;
    if (cursor !== undefined && facts.transport === 'sse') {
      if (shared && holds(shared.log, cursor)) return shared;
      const answer = this.#answers.get(placeTagOf(facts))?.find(({ log }) => holds(log, cursor));
      if (answer) return answer;
    }
    if (shared) return shared;
    const isAnswer = facts.method !== 'GET' && cursor === undefined && !isNamed;
    if (!isAnswer) return this.#newShared(key);
    return this.#newAnswer(placeTagOf(facts), sessionOf(facts) === undefined ? 0 : key);
  }

  #newShared(key: number): ServerStream {
    const stream = this.#make(key, key);
    this.#byKey.set(key, stream);
    return stream;
  }

  #newAnswer(place: number, tag: number): ServerStream {
    const stream = this.#make(0, tag);
    const answers = this.#answers.get(place) ?? [];
    answers.unshift(stream);
    if (answers.length > ANSWERS_REMEMBERED) forget(answers.pop());
    this.#answers.delete(place);
    this.#answers.set(place, answers);
    return stream;
  }

  #make(key: number, tag: number): ServerStream {
    const log = new WrittenLog(this.#memory);
    return {
      key,
      tag,
      log,
      open: 0,
      isForgotten: false,
      connections: 0,
      lastContext: undefined,
      transport: undefined,
      carrier: undefined,
      handover: undefined,
    };
  }

  /** The longest untouched go first; what is being written to stays. */
  #evict(): void {
    for (let seen = 0; seen < SEEN_AT_A_CLOSE && this.#byKey.size > this.#limit; seen++) {
      const [oldest] = this.#byKey;
      if (oldest === undefined) break;
      const [key, stream] = oldest;
      this.#byKey.delete(key);
      if (stream.open > 0) this.#byKey.set(key, stream);
      // Under another name than its own a stream moved once.
      else if (key === stream.key) forget(stream);
    }
    while (this.#answers.size > this.#limit) {
      const [oldest] = this.#answers;
      if (oldest === undefined) return;
      this.#answers.delete(oldest[0]);
      for (const answer of oldest[1]) forget(answer);
    }
  }
}

/** Where answers are found: whatever the method, within one session. */
function placeTagOf(facts: RequestFacts): number {
  return keyTagOf(`${placeOf(facts)} ${facts.headers.get('mcp-session-id') ?? ''}`);
}

function forget(stream: ServerStream | undefined): void {
  if (stream === undefined) return;
  stream.isForgotten = true;
  if (stream.open === 0) stream.log.release();
}

function holds(log: WrittenLog, cursor: string): boolean {
  return log.find(idTagOf(cursor), numberedBy(cursor)) !== undefined;
}
