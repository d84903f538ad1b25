import { classify, missedBy } from '../classify.ts';
import type { StreamReport } from '../connection.ts';
import type { PayloadUnderId } from '../evidence.ts';
import {
  SEEN_ID_REUSED_HERE,
  SEEN_OTHER_PAYLOAD,
  SEEN_PAYLOAD,
  SEEN_PAYLOAD_HERE,
  SEEN_SAME,
} from '../history.ts';
import type { Count, Verdict } from '../verdict.ts';
import type { LaneEvidence } from './lane-evidence.ts';
import type { Move, StreamState } from './logical-stream.ts';
import { migrationOf } from './move.ts';

/** What an evaluation brought: nothing new, the one verdict (or a first start), or its revision. */
export type Step = 'none' | 'settled' | 'revised';

/** One logical stream on one connection. */
export class Lane {
  readonly name: string | undefined;
  state: StreamState;
  reconnect: boolean;
  settled = false;
  verdict: Verdict | undefined;
  revised = false;
  events = 0;
  duplicates = 0;
  firstId: string | undefined;
  evidence: LaneEvidence | undefined;
  /** M1: one event need not look the same on both transports, so a difference proves nothing. */
  isFramedAnew = false;
  /** Latest epoch token of this connection; the stream takes it over unless it was refused. */
  epoch: string | undefined;
  /** `gen` of the Stream-Continuity of this connection. */
  gen: string | undefined;
  /** Last id that came on this connection for this stream, where ids are read as text. */
  lastId: string | undefined;
  /** What the evidence proved before it was let go. */
  #missed: Count = 'unknown';
  #eventsAtVerdict = 0;

  constructor(name: string | undefined, state: StreamState, reconnect: boolean) {
    this.name = name;
    this.state = state;
    this.reconnect = reconnect;
  }

  /**
   * Counts one application event and remembers it.
   * @param idTag 0 without an id of its own. @param payloadTag 0 where payloads are not compared.
   * @param keyTag tag of the idempotency key; 0 without one.
   */
  deliver(idTag: number, payloadTag: number, keyTag: number, mark: number): PayloadUnderId {
    const { state } = this;
    const found = state.seen.observe(idTag, payloadTag, mark);
    const seen = this.isFramedAnew ? found & ~SEEN_OTHER_PAYLOAD : found;
    this.events++;
    if (idTag !== 0) state.hasIds = true;
    const isDuplicate = keyTag === 0 ? this.#repeats(seen, idTag) : this.#hasKey(keyTag, mark);
    if (isDuplicate) this.duplicates++;
    const payload = underId(seen, idTag, state);
    if (seen & SEEN_ID_REUSED_HERE) state.reusesIds = true;
    return payload;
  }

  /** G2. The event that first repeats a payload inside a connection is no duplicate. */
  #repeats(seen: number, idTag: number): boolean {
    const { state } = this;
    if (idTag !== 0 && seen & SEEN_SAME) return true;
    if (seen & SEEN_PAYLOAD_HERE) state.repeatsPayload = true;
    return (seen & SEEN_PAYLOAD) !== 0 && !state.repeatsPayload;
  }

  #hasKey(keyTag: number, mark: number): boolean {
    return ((this.state.eventKeys?.observe(keyTag, 0, mark) ?? 0) & SEEN_SAME) !== 0;
  }

  /** Asks the rules. `held`: a profile may still be confirmed, so nothing is decided yet. */
  evaluate(held: boolean): Step {
    const { evidence } = this;
    if (evidence === undefined || (held && evidence.phase === 'open')) return 'none';
    if (!this.settled) {
      if (this.reconnect) this.verdict = classify(evidence);
      else if (evidence.phase === 'open' && !evidence.delivered) return 'none';
      if (this.reconnect && this.verdict === undefined) return 'none';
      this.settled = true;
      this.#eventsAtVerdict = this.events;
      return 'settled';
    }
    return this.#revise(evidence) ? 'revised' : 'none';
  }

  /** R16. */
  #revise(evidence: LaneEvidence): boolean {
    if (this.revised || !this.#isRevisable) return false;
    const later = classify(evidence);
    if (later?.classification !== 'reoriginated') return false;
    if (later.reason === 'protocol_never_resumes') return false;
    this.verdict = later;
    this.revised = true;
    return true;
  }

  /** Once the first event was part of a `resumed` verdict, nothing later speaks of the reconnect. */
  get #isRevisable(): boolean {
    if (this.verdict?.classification === 'unverifiable') return true;
    const unheard = this.#eventsAtVerdict === 0 && this.events <= 1;
    return this.verdict?.classification === 'resumed' && unheard;
  }

  /** Events came without ids, and one that has an id may still refute the verdict. */
  get awaitsFirstId(): boolean {
    const { evidence } = this;
    return evidence?.firstId === undefined && evidence?.expectedCursor !== undefined;
  }

  /** The token of this connection (received, else sent), else the one held. */
  get knownEpoch(): string | undefined {
    return this.gen ?? this.#ownEpoch ?? this.state.heldUntold;
  }

  get #ownEpoch(): string | undefined {
    return this.epoch ?? this.evidence?.claim.epoch ?? this.state.heldEpoch;
  }

  /** A stream that a frame names begins with what its connection said. */
  takeTokens({ epoch, gen }: Lane): void {
    this.epoch = epoch;
    this.gen = gen;
  }

  /** What the next connection of the stream is compared with. */
  holdTokens(): void {
    this.state.heldEpoch = this.#ownEpoch;
    this.state.heldGen = this.gen ?? this.state.heldGen;
  }

  /** Keeps what was proven and lets the evidence go. */
  forgetEvidence(): void {
    if (this.evidence === undefined) return;
    this.#missed = this.missed;
    this.evidence = undefined;
  }

  get missed(): Count {
    if (this.evidence === undefined || this.verdict === undefined) return this.#missed;
    return missedBy(this.verdict, this.evidence);
  }

  /** G2: unknown when nothing identifies an event of this stream. */
  get countedDuplicates(): Count {
    const { state } = this;
    const identified = state.eventKeys !== undefined || state.hasIds || !state.repeatsPayload;
    return identified || this.events === 0 ? this.duplicates : 'unknown';
  }

  /** Of the kind of `knownEpoch`, so that both are exported alike. */
  get #previousEpoch(): string | undefined {
    const held = this.evidence?.held;
    return held && ((this.gen === undefined ? held.epoch : held.gen) ?? held.untold);
  }

  report({ epochIsSession, lastCursor, move }: AboutConnection): StreamReport {
    return {
      stream: this.name,
      verdict: this.verdict,
      revised: this.revised,
      missed: this.missed,
      duplicates: this.countedDuplicates,
      atLeast: this.state.seen.exhausted || this.state.eventKeys?.exhausted === true,
      epoch: this.knownEpoch,
      previousEpoch: this.#previousEpoch,
      epochIsSession,
      requestedCursor: this.evidence?.sentCursor,
      firstCursor: this.firstId,
      lastCursor,
      replayed: undefined,
      ...(move && this.verdict && { migration: migrationOf(move, this.verdict) }),
    };
  }
}

/** What a report says of the connection rather than of the stream on it. */
export interface AboutConnection extends Pick<StreamReport, 'epochIsSession' | 'lastCursor'> {
  readonly move: Move | undefined;
}

function underId(seen: number, idTag: number, state: StreamState): PayloadUnderId {
  if (idTag === 0 || seen === 0) return 'new';
  if (seen & SEEN_SAME) return 'same';
  return seen & SEEN_OTHER_PAYLOAD && !state.reusesIds ? 'other' : 'new';
}
