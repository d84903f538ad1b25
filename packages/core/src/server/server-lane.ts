import type { StreamReport } from '../connection.ts';
import { relate } from '../cursor/relate.ts';
import { idTagOf } from '../id-tag.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { ContinuityMembers } from '../profile/place.ts';
import type { RefusedReason, Verdict } from '../verdict.ts';
import type { ServerEvidence } from './classify-server.ts';
import { classifyServer, missedByServer } from './classify-server.ts';
import { declaredBy } from './declared.ts';
import { ReplayFollower } from './replay-follower.ts';
import { wantedIndex } from './wanted-index.ts';
import type { WrittenLog } from './written-log.ts';
import { numberedBy } from './written-log.ts';

type Evidence = { -readonly [K in keyof ServerEvidence]: ServerEvidence[K] };

/** One logical stream on one connection, as the process that writes it sees it (V1–V9). */
export class ServerLane {
  readonly name: string | undefined;
  settled = false;
  events = 0;
  verdict: Verdict | undefined;
  epoch: string | undefined;
  readonly log: WrittenLog;
  readonly #follower: ReplayFollower;
  #cursor: string | undefined;
  #evidence: Evidence | undefined;
  #firstId: string | undefined;
  #lastId: string | undefined;

  constructor(name: string | undefined, log: WrittenLog) {
    this.name = name;
    this.log = log;
    this.#follower = new ReplayFollower(log, false);
  }

  get isResumed(): boolean {
    return this.#cursor !== undefined;
  }

  get repeated(): number {
    return this.#follower.repeated;
  }

  /** The client asks to go on from a cursor; what was written before this is no answer to it. */
  resume(
    cursor: string,
    profile: CompiledProfile,
    continuity: ContinuityMembers | undefined,
  ): void {
    if (this.settled) return;
    const { log } = this;
    const isTrusted = !log.isFiltered && !log.reusesIds;
    const wanted = isTrusted ? wantedIndex(log, cursor, profile) : undefined;
    this.#cursor = cursor;
    this.#firstId = undefined;
    this.#follower.resume(wanted);
    this.#evidence = {
      phase: 'open',
      refusal: undefined,
      declared: declaredBy(continuity, cursor, profile.choices),
      wantedIndex: wanted,
      logLength: log.length,
      first: undefined,
    };
  }

  refuse(reason: RefusedReason): void {
    if (this.#evidence !== undefined && this.#evidence.first === undefined) {
      this.#evidence.refusal = reason;
    }
  }

  /** One application event was written. @param payloadTag 0 where payloads are not compared. */
  wrote(position: string | undefined, payloadTag: number, profile: CompiledProfile): void {
    this.events++;
    if (position !== undefined) this.#lastId = position;
    const evidence = this.settled ? undefined : this.#evidence;
    const isFirst = this.#firstId === undefined;
    if (isFirst) this.#firstId = position;
    const before = this.log.length;
    const index = this.#follow(position, payloadTag);
    const payload =
      index === undefined || payloadTag === 0
        ? 'not_remembered'
        : this.log.payloadAt(index, payloadTag);
    if (evidence !== undefined && evidence.first === undefined) {
      this.#answer(evidence, profile, { position, index, payload, before });
    } else if (isFirst && this.#cursor === undefined && payload === 'other') {
      this.log.reusesIds = true;
    }
  }

  /**
   * @param phase `established`: a first connection counts as up from here on.
   * @returns Whether there is something to report now.
   */
  evaluate(phase: 'open' | 'established' | 'timed_out' | 'ended'): boolean {
    if (this.settled) return false;
    if (this.#evidence === undefined) {
      this.settled = phase !== 'open';
      return this.settled;
    }
    if (phase === 'timed_out' || phase === 'ended') this.#evidence.phase = phase;
    this.verdict = classifyServer(this.#evidence);
    this.settled = this.verdict !== undefined;
    return this.settled;
  }

  /** The reader is gone. */
  close(): void {
    this.#follower.close();
  }

  report(epochIsSession: boolean): StreamReport {
    const { verdict } = this;
    const evidence = this.#evidence;
    return {
      stream: this.name,
      verdict,
      revised: false,
      missed: verdict && evidence ? missedByServer(verdict, evidence) : 'unknown',
      duplicates: this.repeated,
      atLeast: false,
      epoch: this.epoch,
      previousEpoch: undefined,
      epochIsSession,
      requestedCursor: this.#cursor,
      firstCursor: this.#firstId,
      lastCursor: this.#lastId,
      replayed: this.isResumed ? this.#follower.replayed : undefined,
    };
  }

  #follow(position: string | undefined, payloadTag: number): number | undefined {
    if (position === undefined) return undefined;
    return this.#follower.follow(idTagOf(position), payloadTag, numberedBy(position));
  }

  #answer(
    evidence: Evidence,
    profile: CompiledProfile,
    first: {
      readonly position: string | undefined;
      readonly index: number | undefined;
      readonly payload: 'same' | 'other' | 'not_remembered';
      readonly before: number;
    },
  ): void {
    const { position: id, index, payload, before } = first;
    const cursor = this.#cursor ?? '';
    const isTrusted = !this.log.isFiltered && !this.log.reusesIds;
    if (id !== undefined) evidence.logLength = before;
    evidence.first = {
      id,
      relation: id === undefined ? undefined : relate(profile.choices, cursor, id),
      index: isTrusted ? index : undefined,
      payload: isTrusted ? payload : 'not_remembered',
    };
    if (!isTrusted) evidence.wantedIndex = undefined;
  }
}
