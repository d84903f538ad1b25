import type {
  ConnectionEnd,
  HeaderLookup,
  MessageUse,
  StreamConnection,
  StreamObserver,
  StreamReport,
  StreamRequest,
} from '../connection.ts';
import { isTwin, mayBeginTwin } from '../continuity-twin.ts';
import { idTagOf } from '../id-tag.ts';
import { JsonMessage } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { ContinuityMembers, Subject } from '../profile/place.ts';
import { SseScanner } from '../sse/scanner.ts';
import type { SseSink } from '../sse/sink.ts';
import type { HeaderFacts } from '../timeline/facts.ts';
import { bodyOf, claimOf, continuityOf, subjectOf } from '../timeline/facts.ts';
import { Frame, payloadTagOf, readFrame } from '../timeline/frame.ts';
import type { Claim } from '../timeline/lane-evidence.ts';
import { opensStream, refusalOf } from '../timeline/lane-facts.ts';
import { acceptsMove, announcesMove } from '../timeline/move.ts';
import { copyHeaders } from '../timeline/request-facts.ts';
import type { Verdict } from '../verdict.ts';
import { beginsAnew, classifyServer, missedByServer } from './classify-server.ts';
import { Departure } from './departure.ts';
import type { FirstWritten, GatheringEvidence } from './evidence-for.ts';
import { evidenceFor, noteFirstWritten } from './evidence-for.ts';
import type { ChooseProfile } from './header-choice.ts';
import { judgeMove } from './judge-move.ts';
import type { Epoch, Opening } from './opening.ts';
import { epochOf, openingOf } from './opening.ts';
import { ReplayFollower } from './replay-follower.ts';
import type { Carrier, ServerStream, ServerStreams } from './server-streams.ts';
import type { Numbered } from './written-log.ts';
import { numberedBy } from './written-log.ts';

export interface ServerEngine {
  readonly streams: ServerStreams;
  readonly observer: StreamObserver;
  readonly hashesPayloads: boolean;
  readonly responseHeaders: readonly string[];
  /** Milliseconds for which an announced move may be made (M1). */
  readonly reconnectWindow: number;
  /** Chooses again when the response headers are known. */
  readonly choose: ChooseProfile;
}

/** One event stream that this process answers with; judged by what it wrote before (V1–V9). */
export class ServerConnection implements StreamConnection, Carrier, SseSink {
  // What every event touches comes first and so shares a cache line or two.
  events = 0;
  settled = false;
  #sawId = false;
  #mayOpenWithTwin = false;
  /** Where positions stand in the data: the scanner does not know them. */
  #lastPosition: string | undefined;
  #profile: CompiledProfile;
  #scanner: SseScanner | undefined;
  readonly #follower: ReplayFollower;
  readonly ordinal: number;
  context: unknown;
  opensWith: StreamConnection['opensWith'] = undefined;
  readonly previous: unknown;
  readonly #engine: ServerEngine;
  readonly #stream: ServerStream;
  /** Let go once the stream is judged: it may stay open for days. */
  #opening: Opening | undefined;
  #cursor: string | undefined;
  #evidence: GatheringEvidence | undefined;
  #verdict: Verdict | undefined;
  #subject: Subject | undefined;
  #epoch: Epoch | undefined;
  #firstId: string | undefined;
  #over = false;
  #isLeft = false;

  constructor(engine: ServerEngine, request: StreamRequest, facts: HeaderFacts, at: number) {
    this.#engine = engine;
    this.#opening = openingOf(facts, at);
    const subject = subjectOf(facts, bodyOf(facts.request));
    this.#profile = engine.choose(facts, subject);
    this.#cursor = claimOf(this.#profile, subject).cursor;
    this.#stream = engine.streams.open(request, facts.request, this.#cursor, this.#profile);
    this.ordinal = this.#stream.connections++;
    this.previous = this.#stream.lastContext;
    this.#follower = new ReplayFollower(this.#stream.log, this.#cursor !== undefined);
  }

  get role(): 'server' {
    return 'server';
  }

  get transport(): 'sse' {
    return 'sse';
  }

  get resumeRequested(): boolean {
    return this.#cursor !== undefined;
  }

  get repeated(): number {
    return this.#follower.repeated;
  }

  get protocol(): string {
    return this.#profile.name;
  }

  get retry(): number | undefined {
    return this.#scanner?.retry;
  }

  get reads(): MessageUse {
    return 'nothing';
  }

  // A server answers a redirect and is done; a WebSocket is no ServerConnection.
  redirect(): void {}
  message(): void {}
  sent(): void {}

  response(status: number, header: HeaderLookup): boolean {
    const opening = this.#opening;
    if (opening === undefined) return false;
    const responseHeaders = copyHeaders(this.#engine.responseHeaders, header);
    const facts = { ...opening.facts, responseHeaders, status };
    Object.assign(opening, { facts, status });
    const base = subjectOf(facts, bodyOf(facts.request));
    this.#profile = this.#engine.choose(facts, base);
    const claim = claimOf(this.#profile, base);
    this.#cursor = claim.cursor;
    const continuity = continuityOf(facts, claim);
    this.#subject = continuity === undefined ? base : { ...base, continuity };
    this.#epoch = epochOf(this.#profile, this.#subject, claim);
    const opens = opensStream(this.transport, status, header('content-type'));
    if (claim.cursor !== undefined) this.#gather(claim.cursor, continuity);
    if (opens) this.#engine.streams.carry(this.#stream, this, this.#profile);
    else this.#decline(opening, status, claim);
    this.#evaluate();
    if (!opens) this.end('eof');
    return opens;
  }

  /** No stream: a refusal (V1), unless all that was asked for is a move that comes next (M1). */
  #decline(opening: Opening, status: number, claim: Claim): void {
    if (this.#evidence) this.#evidence.refusal = refusalOf(status);
    if (!announcesMove(opening.facts.request)) return;
    const { at } = opening;
    const departure = new Departure(this.#stream, at, this.#engine.reconnectWindow);
    opening.move = departure.move(claim.cursor, this.#profile);
    opening.isAnnouncement = acceptsMove(status);
    if (!opening.isAnnouncement) return;
    if (this.#stream.transport === 'sse') this.#stream.handover = { ...claim, askedAt: at };
    this.#evidence = undefined;
  }

  leave(): void {
    this.#isLeft = true;
  }

  push(bytes: Uint8Array): void {
    (this.#scanner ?? this.#begin(bytes[0])).push(bytes);
  }

  pushString(text: string): void {
    (this.#scanner ?? this.#begin(text.charCodeAt(0))).pushString(text);
  }

  timeout(): void {
    if (this.#evidence) this.#evidence.phase = 'timed_out';
    this.#evaluate(true);
  }

  end(end: ConnectionEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#scanner?.end();
    if (this.#evidence) this.#evidence.phase = 'ended';
    this.#evaluate(true);
    this.#follower.close(this.#isLeft);
    // What announced a move is no connection of the stream; the one before it is still the last.
    const last = this.#opening?.isAnnouncement ? { context: this.#stream.lastContext } : this;
    this.#engine.streams.close(this.#stream, last);
    this.#engine.observer.ended(this, end, this.settled ? [this.#report()] : []);
  }

  /** Hot path: one event written. */
  event(scanner: SseScanner): void {
    if (scanner.dataLength === 0) return;
    if (this.#mayOpenWithTwin) {
      this.#mayOpenWithTwin = false;
      scanner.setKeep(this.#profile.readsEvents);
      if (isTwin(scanner)) return; // stamped by us, and no event of the application
      this.opensWith?.(scanner.eventName, scanner.data);
      this.opensWith = undefined;
    }
    if (this.#profile.readsEvents) {
      this.#readEvent(scanner);
      return;
    }
    const hasId = scanner.hasId && scanner.idLength > 0;
    if (hasId) this.#sawId = true;
    const first = this.settled || !hasId ? undefined : scanner.lastEventId;
    this.#written(hasId ? scanner.idTag : 0, scanner.payloadTag, scanner, first);
  }

  #readEvent(scanner: SseScanner): void {
    const id = scanner.hasId ? scanner.lastEventId : undefined;
    const sse = { id, event: scanner.eventName || 'message', data: scanner.data };
    const frame = new Frame(this.#subject ?? {}, new JsonMessage(sse.data ?? ''), sse);
    const { isSignal, isControl, position } = readFrame(this.#profile, frame);
    if (isSignal || isControl) return;
    if (position !== undefined) this.#lastPosition = position;
    const tag = position === undefined ? 0 : position === id ? scanner.idTag : idTagOf(position);
    const engine = { identity: this.#engine.hashesPayloads ? 'payload' : 'id' } as const;
    const payloadTag = payloadTagOf(engine, this.#profile, frame, scanner.payloadTag);
    this.#written(tag, payloadTag, numberedBy(position), position);
  }

  #written(idTag: number, payloadTag: number, event: Numbered, id: string | undefined): void {
    this.events++;
    if (this.events === 1) this.#writtenFirst(idTag, payloadTag, event, id);
    else if (idTag !== 0) this.#follower.follow(idTag, payloadTag, event);
  }

  #writtenFirst(idTag: number, payloadTag: number, event: Numbered, id: string | undefined): void {
    this.#firstId = id;
    const { log } = this.#stream;
    const { length: logLength, isMixed } = log;
    const index = idTag === 0 ? undefined : this.#follower.follow(idTag, payloadTag, event);
    const before = index === undefined ? 'not_remembered' : log.payloadAt(index, payloadTag);
    // V6 was said when it happened; from then on an id of this log is no name of one event.
    const payload = this.#engine.hashesPayloads && !isMixed ? before : 'not_remembered';
    this.#first({ id: idTag === 0 ? undefined : id, index, payload, logLength });
    if (this.#evidence === undefined && before === 'other') log.reusesIds = true;
  }

  #gather(cursor: string, continuity: ContinuityMembers | undefined): void {
    this.#evidence = evidenceFor(this.#stream.log, cursor, this.#profile, continuity);
    this.#follower.wanted = this.#evidence.wantedIndex;
  }

  #first(first: FirstWritten): void {
    if (this.#evidence !== undefined && this.#cursor !== undefined) {
      noteFirstWritten(this.#evidence, this.#stream.log, this.#cursor, this.#profile, first);
    }
    this.#evaluate(true);
  }

  /** @param established a first connection counts as up from here on. */
  #evaluate(established = false): void {
    const status = this.#opening?.status;
    if (this.settled || status === undefined) return;
    if (this.#evidence === undefined) {
      if (!established || status !== 200) return;
    } else {
      this.#verdict = classifyServer(this.#evidence);
      if (this.#verdict === undefined) return;
      if (beginsAnew(this.#evidence, this.#verdict)) this.#stream.log.isMixed = true;
    }
    this.settled = true;
    this.#engine.observer.settled(this, this.#report());
    // What opens no stream is over at once, and its end asks once more.
    if (this.#verdict?.classification !== 'refused') this.#opening = undefined;
    if (!this.#profile.readsEvents) this.#subject = undefined;
  }

  #report(): StreamReport {
    const evidence = this.#evidence;
    const verdict = this.#verdict;
    return {
      stream: undefined,
      verdict,
      revised: false,
      missed: verdict && evidence ? missedByServer(verdict, evidence) : 'unknown',
      duplicates: this.repeated,
      atLeast: false,
      epoch: this.#epoch?.token,
      previousEpoch: undefined,
      epochIsSession: this.#epoch?.isSession ?? false,
      requestedCursor: this.#cursor,
      firstCursor: this.#firstId,
      lastCursor: this.#sawId ? this.#scanner?.lastEventId : this.#lastPosition,
      replayed: this.#cursor === undefined ? undefined : this.#follower.replayed,
      written: this.#stream,
      logEpoch: this.#epoch?.ofLog,
      ...(this.#opening?.move && judgeMove(this.#opening.move, evidence, verdict)),
    };
  }

  #begin(first: number | undefined): SseScanner {
    this.#mayOpenWithTwin = mayBeginTwin(first);
    if (!this.#mayOpenWithTwin) this.opensWith = undefined;
    const payload = this.#engine.hashesPayloads ? 'hash' : 'none';
    const keep = this.#mayOpenWithTwin || this.#profile.readsEvents;
    this.#scanner = new SseScanner(this, { payload, keep });
    return this.#scanner;
  }
}
