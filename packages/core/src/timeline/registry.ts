import { relate } from '../cursor/relate.ts';
import type { HistoryMemory } from '../history-memory.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { EndedConnection, OpenConnection, Whereabouts } from './logical-stream.ts';
import { LogicalStream } from './logical-stream.ts';
import { leavingSse, mayMove } from './move.ts';
import type { RequestFacts } from './request-facts.ts';
import { StreamIndex } from './stream-index.ts';

export interface Association {
  readonly stream: LogicalStream;
  /** L1, L2: this connection gets a verdict. */
  readonly reconnect: boolean;
  /** Context of the connection before it. */
  readonly previous: unknown;
}

export interface Asked {
  readonly request: RequestFacts;
  readonly key: number;
  readonly where: Whereabouts;
  readonly cursor: string | undefined;
  readonly profile: CompiledProfile;
  readonly at: number;
  /** Where the connection stands already; kept when nothing else is found. */
  readonly current?: LogicalStream | undefined;
}

export interface RegistryLimits {
  /** Milliseconds within which a request without cursor continues a dropped connection (L2). */
  readonly reconnectWindow: number;
  /** Closed logical streams to remember; the longest closed are forgotten first. */
  readonly closedStreams: number;
  readonly history: HistoryMemory;
}

/** Finds the logical stream that a request continues: rules L1 to L5. */
export class StreamRegistry {
  readonly #limits: RegistryLimits;
  readonly #byKey: StreamIndex = new StreamIndex();
  readonly #byPlace: StreamIndex = new StreamIndex();
  #clients = new WeakMap<object, LogicalStream>();
  #oldest: LogicalStream | undefined;
  #newest: LogicalStream | undefined;
  #closed = 0;

  constructor(limits: RegistryLimits) {
    this.#limits = limits;
  }

  associate(asked: Asked): Association {
    const found =
      (asked.cursor === undefined ? this.#withoutCursor(asked) : this.#withCursor(asked)) ??
      (mayMove(asked.request) ? this.#moving(asked) : undefined);
    const reconnect = found !== undefined || asked.cursor !== undefined;
    const stream =
      found?.stream ?? asked.current ?? new LogicalStream(asked.where, this.#limits.history);
    this.#byKey.enter(asked.key, stream);
    this.#byPlace.enter(asked.where.place, stream);
    stream.addKey(asked.key);
    if (asked.request.client) this.#clients.set(asked.request.client, stream);
    this.#unlink(stream);
    return { stream, reconnect, previous: found?.previous };
  }

  /** A stream of this key whose profile is known already, before the request can be read fully. */
  profileOf(key: number): CompiledProfile | undefined {
    return this.#byKey.profile(key);
  }

  /** A profile stays with the logical stream that it was confirmed on first. */
  confirm(stream: LogicalStream, profile: CompiledProfile): void {
    if (stream.profile !== undefined) return;
    stream.profile = profile;
    this.#changed(stream);
  }

  /** L2, M1: no more than the reconnect window ago. */
  isRecent(then: number, now: number): boolean {
    return now - then <= this.#limits.reconnectWindow;
  }

  /** A connection of a stream is over. */
  left(
    stream: LogicalStream,
    connection: OpenConnection,
    { end, at }: Pick<EndedConnection, 'end' | 'at'>,
  ): void {
    const { cursor, context } = connection;
    stream.leave(connection);
    stream.remember({ end, at, cursor, context });
    this.closed(stream);
  }

  /** Call when a stream may be without any connection. */
  closed(stream: LogicalStream): void {
    this.#changed(stream);
    if (stream.isOpen || stream.listed) return;
    stream.listed = true;
    stream.older = this.#newest;
    if (this.#newest) this.#newest.newer = stream;
    else this.#oldest = stream;
    this.#newest = stream;
    this.#closed++;
    if (this.#closed > this.#limits.closedStreams && this.#oldest) this.#forget(this.#oldest);
  }

  /** A stream that never came to be (no response, no stream): nothing is remembered of it. */
  discard(stream: LogicalStream): void {
    if (!stream.isOpen && !stream.wasLeft) this.#forget(stream);
  }

  /** L1. */
  #withCursor(asked: Asked): Found | undefined {
    const { key, where } = asked;
    return (
      this.#endingAt(this.#byKey, key, asked) ??
      this.#endingAt(this.#byPlace, where.place, asked) ??
      mostRecentlyClosed(this.#byKey.left(key), () => true)
    );
  }

  #endingAt(index: StreamIndex, name: number, asked: Asked): Found | undefined {
    // L5: several may have ended at one cursor, all readers of one feed that were dropped together.
    const ended =
      endedAt(index.left(name), asked, ({ isOpen }) => !isOpen) ??
      endedAt(index.left(name), asked, ({ isOpen }) => isOpen);
    if (ended !== undefined) return ended;
    for (const stream of index.all(name)) {
      for (const open of stream.open) {
        if (isContinuedBy(open.cursor, asked)) return { stream, previous: open.context };
      }
    }
    return undefined;
  }

  /** L2, L3. */
  #withoutCursor(asked: Asked): Found | undefined {
    const { request, profile, at } = asked;
    const own = request.client && this.#clients.get(request.client);
    if (own) return { stream: own, previous: own.lastEnd?.context };
    const isTied = profile.neverResumes && profile.key !== undefined;
    if (request.method !== 'GET' && !isTied) return undefined;
    return mostRecentlyClosed(
      this.#byKey.left(asked.key),
      (ended) => wasDropped(ended) && this.isRecent(ended.at, at),
    );
  }

  /** M1: the stream that leaves SSE by this request, found by what L1 and L2 leave aside. */
  #moving(asked: Asked): Found | undefined {
    const { reconnectWindow } = this.#limits;
    const ofKey = leavingSse([...this.#byKey.all(asked.key)], asked, reconnectWindow);
    const stream = ofKey ?? leavingSse(this.#elsewhere(asked), asked, reconnectWindow);
    if (stream === undefined) return undefined;
    return { stream, previous: (stream.open.at(-1) ?? stream.lastEnd)?.context };
  }

  /** Another path of the same server: found by the cursor or the session, where only one has it. */
  #elsewhere(asked: Asked): readonly LogicalStream[] {
    const { cursor, where } = asked;
    if (cursor === undefined && where.session === 0) return [];
    const there = [...this.#byPlace.everything()].filter(
      ({ origin, transport }) => origin === where.origin && transport === 'sse',
    );
    const ofSession = there.filter(({ session }) => session === where.session);
    const ending = (where.session === 0 ? there : ofSession).filter((stream) =>
      [...stream.ended, ...stream.open].some((one) => isContinuedBy(one.cursor, asked)),
    );
    if (ending.length === 1) return ending;
    return where.session !== 0 && ofSession.length === 1 ? ofSession : [];
  }

  #changed(stream: LogicalStream): void {
    for (const key of stream.keys) this.#byKey.changed(key, stream);
    this.#byPlace.changed(stream.place, stream);
  }

  #unlink(stream: LogicalStream): void {
    if (!stream.listed) return;
    const { older, newer } = stream;
    stream.listed = false;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    stream.older = undefined;
    stream.newer = undefined;
    this.#closed--;
  }

  #forget(stream: LogicalStream): void {
    this.#unlink(stream);
    for (const key of stream.keys) this.#byKey.drop(key, stream);
    this.#byPlace.drop(stream.place, stream);
    stream.release();
  }
}

interface Found {
  readonly stream: LogicalStream;
  readonly previous: unknown;
}

function endedAt(
  streams: Iterable<LogicalStream>,
  asked: Asked,
  qualifies: (stream: LogicalStream) => boolean,
): Found | undefined {
  for (const stream of streams) {
    if (!qualifies(stream)) continue;
    const ended = stream.ended.find((end) => isContinuedBy(end.cursor, asked));
    if (ended) return { stream, previous: ended.context };
  }
  return undefined;
}

/** A close that the application asked for is no drop (L2). */
function wasDropped({ end }: EndedConnection): boolean {
  return end !== 'aborted' && end !== 'open' && end !== 'close:1000' && end !== 'close:1005';
}

/**
 * L5: a stream that another connection has picked up already comes last; taking it all the same
 * means that one stream is read twice.
 */
function mostRecentlyClosed(
  streams: Iterable<LogicalStream>,
  qualifies: (ended: EndedConnection) => boolean,
): Found | undefined {
  let best: { stream: LogicalStream; ended: EndedConnection } | undefined;
  for (const stream of streams) {
    const { lastEnd: ended } = stream;
    if (ended === undefined || !qualifies(ended)) continue;
    if (best === undefined || rank(stream, ended, best) > 0) best = { stream, ended };
  }
  return best && { stream: best.stream, previous: best.ended.context };
}

function rank(
  stream: LogicalStream,
  ended: EndedConnection,
  best: { stream: LogicalStream; ended: EndedConnection },
): number {
  const taken = Number(best.stream.isOpen) - Number(stream.isOpen);
  return taken !== 0 ? taken : ended.at >= best.ended.at ? 1 : -1;
}

/** The cursor equals the last id received, or is one above it where the cursor means `next`. */
function isContinuedBy(lastId: string | undefined, { cursor, profile }: Asked): boolean {
  if (cursor === undefined || lastId === undefined || lastId === '') return false;
  if (cursor === lastId) return true;
  const { order, means, cursor: sent, other } = relate(profile.choices, cursor, lastId);
  if (order === 'same') return true;
  if (means !== 'next' || sent.value === undefined || other.value === undefined) return false;
  return order === 'before' && other.value + 1n === sent.value;
}
