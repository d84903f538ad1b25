import type { StreamReport } from '../connection.ts';
import type { WrittenStream } from '../origins/issued-ids.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { ContinuityMembers } from '../profile/place.ts';
import type { Move } from '../timeline/logical-stream.ts';
import type { RefusedReason, Verdict } from '../verdict.ts';
import { beginsAnew, classifyServer, missedByServer } from './classify-server.ts';
import type { FirstWritten, GatheringEvidence } from './evidence-for.ts';
import { evidenceFor, noteFirstWritten } from './evidence-for.ts';
import { judgeMove } from './judge-move.ts';
import type { PlacedEvent } from './placed-event.ts';
import { ReplayFollower } from './replay-follower.ts';
import type { WrittenLog } from './written-log.ts';

/** One logical stream on one connection, as the process that writes it sees it (V1–V9). */
export class ServerLane {
  readonly name: string | undefined;
  settled = false;
  events = 0;
  verdict: Verdict | undefined;
  epoch: string | undefined;
  /** Said by the log itself. */
  logEpoch: string | undefined;
  readonly log: WrittenLog;
  readonly #stream: WrittenStream;
  readonly #follower: ReplayFollower;
  #cursor: string | undefined;
  #evidence: GatheringEvidence | undefined;
  #firstId: string | undefined;
  #lastId: string | undefined;
  #isLeft = false;

  constructor(name: string | undefined, stream: WrittenStream) {
    this.name = name;
    this.#stream = stream;
    this.log = stream.log;
    this.#follower = new ReplayFollower(stream.log, false);
  }

  /** A first connection without a position. */
  get isPlain(): boolean {
    const says = this.#cursor ?? this.#lastId ?? this.epoch ?? this.verdict;
    return says === undefined;
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
    this.#cursor = cursor;
    this.#firstId = undefined;
    this.#evidence = evidenceFor(this.log, cursor, profile, continuity);
    this.#follower.resume(this.#evidence.wantedIndex);
  }

  refuse(reason: RefusedReason): void {
    if (this.#evidence !== undefined && this.#evidence.first === undefined) {
      this.#evidence.refusal = reason;
    }
  }

  /** One application event was written. @param payloadTag 0 where payloads are not compared. */
  wrote(event: PlacedEvent, payloadTag: number, profile: CompiledProfile): void {
    this.events++;
    const { position } = event;
    if (position !== undefined) this.#lastId = position;
    const { length, isMixed } = this.log;
    const index = this.#follow(event, payloadTag);
    const isFirst = this.#firstId === undefined;
    if (isFirst) this.#firstId = position;
    const isAnswer = !this.settled && this.#evidence !== undefined;
    if (!isFirst && !isAnswer) return;
    // V6 was said when it happened; from then on an id of this log is no name of one event.
    const isKnown = index !== undefined && payloadTag !== 0 && !isMixed;
    const payload = isKnown ? this.log.payloadAt(index, payloadTag) : 'not_remembered';
    this.#begin({ id: position, index, payload, logLength: length }, profile);
  }

  #begin(first: FirstWritten, profile: CompiledProfile): void {
    const evidence = this.settled ? undefined : this.#evidence;
    if (evidence !== undefined && evidence.first === undefined) {
      noteFirstWritten(evidence, this.log, this.#cursor ?? '', profile, first);
    } else if (this.#cursor === undefined && first.payload === 'other') this.log.reusesIds = true;
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
    if (beginsAnew(this.#evidence, this.verdict)) this.log.isMixed = true;
    return this.settled;
  }

  /** The reader is gone. */
  close(): void {
    this.#follower.close(this.#isLeft);
  }

  /** The reader goes on elsewhere: what follows in the log is not kept from it. */
  leave(): void {
    this.#isLeft = true;
  }

  /** @param move M1: set where this connection takes the stream from SSE to a WebSocket. */
  report(epochIsSession: boolean, move: Move | undefined): StreamReport {
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
      written: this.#stream,
      logEpoch: this.logEpoch,
      ...(move && judgeMove(move, evidence, verdict)),
    };
  }

  #follow(event: PlacedEvent, payloadTag: number): number | undefined {
    if (event.position === undefined) return undefined;
    const index = this.#follower.follow(event.idTag, payloadTag, event);
    this.log.noteSocket(index ?? this.log.length - 1);
    return index;
  }
}

/** What is reported of a first connection of which nothing is known but that it was up. */
export function firstReport(): StreamReport {
  return {
    stream: undefined,
    verdict: undefined,
    revised: false,
    missed: 'unknown',
    duplicates: 0,
    atLeast: false,
    epoch: undefined,
    previousEpoch: undefined,
    epochIsSession: false,
    requestedCursor: undefined,
    firstCursor: undefined,
    lastCursor: undefined,
    replayed: undefined,
  };
}
