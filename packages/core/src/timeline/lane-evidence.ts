import type { Transport } from '../connection.ts';
import type { Relation } from '../cursor/relate.ts';
import { distanceFromWanted, relate } from '../cursor/relate.ts';
import type { Evidence, FirstEvent, PayloadUnderId } from '../evidence.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { RefusedReason } from '../verdict.ts';
import type { ComparedEpochs, Tokens } from './epochs.ts';
import { compareTokens, tokensOfUntold } from './epochs.ts';

/** What a request or a frame of it said about where the client wants to go on. */
export interface Claim {
  readonly cursor: string | undefined;
  readonly epoch: string | undefined;
}

/** Shared, because most connections claim nothing, and keep it for as long as they are open. */
export const NO_CLAIM: Claim = { cursor: undefined, epoch: undefined };

/** What the logical stream held when the connection was opened. */
export interface Held extends Tokens {
  /** A token of a kind that is not known; it stands where there is no other. */
  readonly untold: string | undefined;
  readonly lastId: string | undefined;
}

/** Evidence as it gathers. Kept while a verdict is pending or may still be revised, then dropped. */
export class LaneEvidence implements Evidence {
  phase: Evidence['phase'] = 'open';
  refusal: RefusedReason | undefined;
  reset = false;
  deliveredSinceReset = false;
  origin = false;
  declaredResumed = false;
  echo: string | undefined;
  delivered = false;
  firstId: string | undefined;
  firstPayload: PayloadUnderId = 'new';
  firstIsLate = false;
  profile: CompiledProfile;
  claim: Claim;
  held: Held;
  receivedEpoch: string | undefined;
  /** `gen` of the Stream-Continuity of this connection. */
  gen: string | undefined;
  oldestText: string | undefined;
  tailText: string | undefined;
  windowSize: number | undefined;
  declaredDense = false;
  migrates = false;
  readonly transport: Transport;

  constructor(transport: Transport, profile: CompiledProfile, claim: Claim, held: Held) {
    this.transport = transport;
    this.profile = profile;
    this.claim = claim;
    this.held = held;
  }

  get hasProfile(): boolean {
    return this.profile.name !== 'websocket';
  }

  get mayDeclare(): boolean {
    return this.profile.resumed.length > 0;
  }

  get neverResumes(): boolean {
    return this.profile.neverResumes;
  }

  get sentCursor(): string | undefined {
    return this.claim.cursor;
  }

  get expectedCursor(): string | undefined {
    return this.claim.cursor ?? (this.held.lastId || undefined);
  }

  get epoch(): string | undefined {
    return this.#epochs.here;
  }

  get heldEpoch(): string | undefined {
    return this.#epochs.held;
  }

  get #epochs(): ComparedEpochs {
    const { held, claim, gen } = this;
    const here = { epoch: this.receivedEpoch ?? claim.epoch, gen };
    const { untold, epoch, gen: heldGen } = held;
    const isUntold = untold !== undefined && epoch === undefined && heldGen === undefined;
    const kept = isUntold ? tokensOfUntold(untold, here, this.profile.epochIsSession) : held;
    return compareTokens(here, { epoch: kept.epoch ?? claim.epoch, gen: kept.gen });
  }

  get first(): FirstEvent | undefined {
    if (!this.delivered) return undefined;
    const { firstId: id, firstPayload: payload, firstIsLate: isLate } = this;
    return { id, isLate, payload, relation: this.#firstRelation() };
  }

  /**
   * Where messages are counted, the server repeats from the last acknowledgement that it saw, which
   * is not on this connection: the same message under its old number is the acknowledged one.
   */
  #firstRelation(): Relation | undefined {
    const relation = this.relation(this.firstId);
    const isRepeated = this.firstPayload === 'same' && relation?.order === 'before';
    return isRepeated && this.profile.count ? { ...relation, order: 'same' } : relation;
  }

  get positionMayFollow(): boolean {
    return this.profile.tellsPositions && this.firstId === undefined && this.tailText === undefined;
  }

  get oldest(): Relation | undefined {
    return this.relation(this.oldestText ?? this.#oldestByWindow());
  }

  get tail(): Relation | undefined {
    return this.relation(this.tailText);
  }

  get window(): Evidence['window'] {
    const oldest = this.oldest;
    // A window of no events reaches nowhere.
    if (oldest === undefined) return this.windowSize ? 'unstated_reach' : 'none';
    if (oldest.order === 'incomparable') return 'not_comparable';
    const beyond = distanceFromWanted(oldest);
    const covers = beyond === undefined ? oldest.order !== 'after' : beyond <= 0n;
    return covers ? 'covers' : 'does_not_cover';
  }

  /**
   * How `id` stands to the expected cursor. An expected cursor that was only received, not sent,
   * names an event the client has, whatever a sent cursor means on this protocol.
   */
  relation(id: string | undefined): Relation | undefined {
    const expected = this.expectedCursor;
    if (id === undefined || expected === undefined) return undefined;
    const relation = relate(this.profile.choices, expected, id);
    const countable = relation.cursor.value !== undefined && relation.other.value !== undefined;
    const received = this.sentCursor === undefined && relation.means === 'next' && countable;
    return {
      ...relation,
      means: received ? 'last' : relation.means,
      dense: relation.dense || (this.declaredDense && countable),
    };
  }

  /** A size and the end of an integer log give its oldest position. */
  #oldestByWindow(): string | undefined {
    if (this.windowSize === undefined || this.tailText === undefined) return undefined;
    const value = this.tail?.other.value;
    return value === undefined ? undefined : String(value - BigInt(this.windowSize) + 1n);
  }
}
