import type { ConnectionEnd, StreamConnection, StreamReport } from '../connection.ts';
import { SeenEvents } from '../history.ts';
import { jsonText } from '../json.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { anyHolds } from '../profile/condition.ts';
import type { Subject } from '../profile/place.ts';
import { readFirst, readPlace } from '../profile/place.ts';
import type { RefusedReason } from '../verdict.ts';
import { isAnotherLog } from '../verdict.ts';
import { deliver, positionOf, setCounter } from './delivery.ts';
import type { Engine } from './engine.ts';
import { claimOf, withSent } from './facts.ts';
import type { FrameFacts } from './frame.ts';
import { Frame, itemsOf, readFrame } from './frame.ts';
import { Lane } from './lane.ts';
import type { Claim } from './lane-evidence.ts';
import { LaneEvidence, NO_CLAIM } from './lane-evidence.ts';
import { applyFrame, inStreamFinding } from './lane-facts.ts';
import type { LogicalStream, Move, OpenConnection, StreamState } from './logical-stream.ts';
import { isFramedAnew } from './move.ts';

/** Messages of the client that places may still look into; older ones were answered long ago. */
const SENT_REMEMBERED = 8;
const NOTHING_SENT: readonly unknown[] = [];

interface Named {
  readonly lane: Lane;
  readonly sent: unknown[];
}

/**
 * The logical streams of one connection (R19): `main` is the connection itself, or what no frame
 * names; the named ones are channels, namespaces, subscriptions. Frames without a name speak for
 * all of them.
 */
export class Lanes {
  main!: Lane;
  readonly #engine: Engine;
  readonly #connection: StreamConnection & OpenConnection;
  #stream!: LogicalStream;
  #profile!: CompiledProfile;
  #claim: Claim = NO_CLAIM;
  #named: Map<string, Named> | undefined;
  #replies: Map<string, string> | undefined;
  #mainMessages: unknown[] | undefined;
  #move: Move | undefined;

  constructor(engine: Engine, connection: StreamConnection & OpenConnection) {
    this.#engine = engine;
    this.#connection = connection;
  }

  /** Whether frames have named streams on this connection (R19). */
  get areNamed(): boolean {
    return this.#named !== undefined;
  }

  get epochIsSession(): boolean {
    return this.#profile.epochIsSession && this.main.gen === undefined;
  }

  get resumeRequested(): boolean {
    return this.#claim.cursor !== undefined;
  }

  get settled(): boolean {
    return this.#participants().every((lane) => lane.settled);
  }

  get events(): number {
    return this.#sum((lane) => lane.events);
  }

  get repeated(): number {
    return this.#sum((lane) => lane.duplicates);
  }

  /** Puts the connection on a stream; a second call corrects the first with what is known by then. */
  attach(
    { isReconnect, move }: { readonly isReconnect: boolean; readonly move: Move | undefined },
    stream: LogicalStream,
    profile: CompiledProfile,
    claim: Claim,
  ): void {
    this.#stream = stream;
    this.#profile = profile;
    this.#claim = claim;
    this.#move = move;
    const { transport } = this.#connection;
    const held = stream.main.held;
    this.main ??= new Lane(undefined, stream.main, isReconnect);
    this.main.state = stream.main;
    this.main.reconnect = isReconnect;
    this.main.isFramedAnew = isFramedAnew(move, profile);
    const { evidence } = this.main;
    if (evidence !== undefined) Object.assign(evidence, { profile, claim, held });
    else if (!this.main.settled) {
      this.main.evidence = new LaneEvidence(transport, profile, claim, held);
    }
    if (this.main.evidence) this.main.evidence.migrates = move !== undefined;
    this.#prepareKeys(stream.main);
  }

  /** R1 by status, content type or close code. */
  refuse(reason: RefusedReason): void {
    const { evidence } = this.main;
    if (evidence !== undefined && this.main.reconnect) evidence.refusal = reason;
    this.#step(this.main, false);
  }

  evaluate(held: boolean): void {
    for (const lane of this.#participants()) this.#step(lane, held || this.#awaitsNames(lane));
  }

  /** Where frames name the streams, the connection itself is none before its end. */
  #awaitsNames(lane: Lane): boolean {
    return lane === this.main && lane.events === 0 && this.#profile.stream.length > 0;
  }

  timeOut(): void {
    for (const lane of this.#participants()) {
      if (lane.evidence?.phase === 'open') lane.evidence.phase = 'timed_out';
      this.#step(lane, false);
    }
  }

  finish(end: ConnectionEnd, cursor: string | undefined): StreamReport[] {
    const code = /^close:(\d+)$/.exec(end)?.[1];
    const refuses = code !== undefined && anyHolds(this.#profile.refused, { close: Number(code) });
    const lanes = this.#participants();
    for (const lane of lanes) {
      if (lane.evidence !== undefined) {
        lane.evidence.phase = end === 'open' ? 'timed_out' : 'ended';
        if (refuses && lane.reconnect && !lane.settled) lane.evidence.refusal = 'refusal_frame';
      }
      this.#step(lane, false);
      const lastId = lane.name === undefined ? cursor : lane.lastId;
      if (lastId !== undefined) lane.state.lastId = lastId;
    }
    return lanes.map((lane) => this.#report(lane));
  }

  /** A message of the client: it may name a stream, a cursor, a token. */
  sent(value: unknown, profile: CompiledProfile, base: Subject): void {
    const own: Subject = { ...withSent(base, [value]), json: value };
    const name = readFirst(profile.stream, own, profile.separator);
    const reply = profile.reply && readPlace(profile.reply.sent, own, profile.separator);
    if (name !== undefined && reply !== undefined) {
      this.#replies ??= new Map();
      this.#replies.set(reply, name);
    }
    const { lane, sent } = name === undefined ? this.#mainSent() : this.#lane(name);
    sent.push(value);
    if (sent.length > SENT_REMEMBERED) sent.shift();
    const claim = claimOf(profile, withSent(base, sent));
    if (lane.settled || (claim.cursor === undefined && claim.epoch === undefined)) return;
    if (lane.evidence !== undefined) lane.evidence.claim = claim;
    if (claim.cursor !== undefined) lane.reconnect = true;
  }

  read(frame: Frame, profile: CompiledProfile, scanned: number, isEmpty: boolean): void {
    const name = this.#nameOf(frame, profile);
    const addressed = name === undefined ? undefined : this.#lane(name);
    const sent = addressed?.sent ?? this.#mainMessages ?? NOTHING_SENT;
    const subject = sent.length === 0 ? frame : frame.with(withSent(frame, sent));
    const receiver = addressed?.lane ?? this.main;
    const facts = readFrame(profile, subject, receiver.knownEpoch !== undefined);
    const items = itemsOf(profile, subject);
    const isEvent = !facts.isSignal && !facts.isControl && !isEmpty && items.length === 0;
    for (const lane of addressed ? [addressed.lane] : this.#all()) {
      this.#apply(lane, profile, subject, facts, isEvent);
    }
    if (isEvent) {
      const position = positionOf(receiver, profile, subject, facts.position);
      const { mark } = this;
      deliver(this.#engine, profile, receiver, { frame: subject, position, scanned, mark });
    }
    for (const item of items) this.#deliverItem(receiver, profile, subject, item);
  }

  #apply(
    lane: Lane,
    profile: CompiledProfile,
    frame: Frame,
    read: FrameFacts,
    isEvent: boolean,
  ): void {
    // Where the answer itself names its log, tokens inside frames are not asked.
    const facts = lane.gen === undefined ? read : { ...read, epoch: undefined };
    const finding = inStreamFinding(lane, profile, facts);
    if (finding !== undefined) this.#engine.observer.inStream(this.#connection, finding);
    applyFrame(lane, facts, isEvent);
    if (facts.epoch !== undefined) {
      lane.epoch = facts.epoch;
      if (lane.settled) lane.state.heldEpoch = facts.epoch;
    }
    setCounter(lane, profile, frame);
  }

  #deliverItem(lane: Lane, profile: CompiledProfile, frame: Frame, item: unknown): void {
    const inner = new Frame(frame, { value: item, text: jsonText(item) });
    const { position } = readFrame(profile, inner, lane.knownEpoch !== undefined);
    if (position !== undefined) lane.lastId = position;
    deliver(this.#engine, profile, lane, {
      frame: inner,
      position,
      scanned: undefined,
      mark: this.mark,
    });
  }

  get mark(): number {
    return this.#connection.ordinal & 0xffff;
  }

  #step(lane: Lane, held: boolean): void {
    const step = lane.evaluate(held);
    if (step !== 'none') this.#tell(lane, step);
    if (lane.settled && !this.#mayStillRevise(lane)) lane.forgetEvidence();
  }

  #tell(lane: Lane, step: 'settled' | 'revised'): void {
    if (lane.verdict?.classification !== 'refused') lane.holdTokens();
    if (isAnotherLog(lane.verdict)) lane.state.seen.beginLog(this.mark);
    const report = this.#report(lane);
    if (step === 'revised') this.#engine.observer.revised(this.#connection, report);
    else this.#engine.observer.settled(this.#connection, report);
  }

  /** A generic stream says nothing more about its reconnect after its first id. */
  #mayStillRevise(lane: Lane): boolean {
    if (lane.verdict === undefined || lane.revised) return false;
    return lane.events === 0 || this.#profile.readsEvents || lane.awaitsFirstId;
  }

  #report(lane: Lane): StreamReport {
    const lastCursor = lane.name === undefined ? this.#connection.cursor : lane.lastId;
    return lane.report({ epochIsSession: this.epochIsSession, lastCursor, move: this.#move });
  }

  #nameOf(frame: Frame, profile: CompiledProfile): string | undefined {
    const name = readFirst(profile.stream, frame, profile.separator);
    if (name !== undefined || profile.reply === undefined) return name;
    const reply = readPlace(profile.reply.received, frame, profile.separator);
    return reply === undefined ? undefined : this.#replies?.get(reply);
  }

  #mainSent(): Named {
    this.#mainMessages ??= [];
    return { lane: this.main, sent: this.#mainMessages };
  }

  /** A stream named for the first time here starts from what the connection said before. */
  #lane(name: string): Named {
    const found = this.#named?.get(name);
    if (found !== undefined) return found;
    const { state, known } = this.#stream.state(name);
    const lane = new Lane(name, state, this.main.reconnect && known);
    const evidence = new LaneEvidence(
      this.#connection.transport,
      this.#profile,
      this.#claim,
      state.held,
    );
    const shared = this.main.evidence;
    if (shared !== undefined) {
      const { receivedEpoch, gen, echo, reset, declaredResumed } = shared;
      Object.assign(evidence, { receivedEpoch, gen, echo, reset, declaredResumed });
    }
    lane.evidence = evidence;
    evidence.migrates = this.#move !== undefined;
    lane.isFramedAnew = this.main.isFramedAnew;
    lane.takeTokens(this.main);
    this.#prepareKeys(state);
    const named = { lane, sent: [...(this.#mainMessages ?? NOTHING_SENT)] };
    this.#named ??= new Map();
    this.#named.set(name, named);
    return named;
  }

  #prepareKeys(state: StreamState): void {
    const { identityKeys, history } = this.#engine;
    if (identityKeys.length === 0 && this.#profile.identity.length === 0) return;
    state.eventKeys ??= new SeenEvents(history);
  }

  #all(): Lane[] {
    return this.#named === undefined
      ? [this.main]
      : [this.main, ...[...this.#named.values()].map(({ lane }) => lane)];
  }

  /** Where streams are named, the connection itself is one only by what it delivered (R19). */
  #participants(): Lane[] {
    const all = this.#all();
    return all.length > 1 && this.main.events === 0 ? all.slice(1) : all;
  }

  #sum(of: (lane: Lane) => number): number {
    return this.#named === undefined
      ? of(this.main)
      : this.#all().reduce((total, lane) => total + of(lane), 0);
  }
}
