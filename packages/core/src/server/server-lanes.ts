import type {
  StreamConnection,
  StreamObserver,
  StreamReport,
  StreamRequest,
} from '../connection.ts';
import { jsonText } from '../json.ts';
import type { BinaryDecoder, Message } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Subject } from '../profile/place.ts';
import { readFirst } from '../profile/place.ts';
import type { Identity } from '../timeline/engine.ts';
import { claimOf, subjectOf, withSent } from '../timeline/facts.ts';
import { Frame, itemsOf, payloadTagOf, readFrame } from '../timeline/frame.ts';
import type { Move } from '../timeline/logical-stream.ts';
import type { RequestFacts } from '../timeline/request-facts.ts';
import type { RefusedReason } from '../verdict.ts';
import { Departure } from './departure.ts';
import type { LonePosition } from './lone-position.ts';
import { epochOf } from './opening.ts';
import { placed } from './placed-event.ts';
import { ServerLane } from './server-lane.ts';
import type { Carrier, ServerStream, ServerStreams } from './server-streams.ts';
import { StreamNames } from './stream-names.ts';

/** What all accepted WebSockets of one timeline share. */
export interface SocketEngine {
  readonly streams: ServerStreams;
  readonly observer: StreamObserver;
  readonly profiles: readonly CompiledProfile[];
  readonly generic: CompiledProfile;
  readonly identity: Exclude<Identity, readonly string[]>;
  readonly responseHeaders: readonly string[];
  readonly decodeBinary: BinaryDecoder | undefined;
  /** Milliseconds for which an announced move may be made (M1). */
  readonly reconnectWindow: number;
}

interface Named {
  readonly lane: ServerLane;
  readonly stream: ServerStream;
  readonly sent: unknown[];
}

/** Messages of the client that places may still look into; older ones were answered long ago. */
const SENT_REMEMBERED = 8;
const MOST_NAMES = 4096;
const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/** The logical streams of one accepted WebSocket (R19): the connection itself, and those it names. */
export class ServerLanes {
  readonly ordinal: number;
  readonly stream: ServerStream;
  readonly #engine: SocketEngine;
  readonly #connection: StreamConnection & Carrier;
  readonly #departure: Departure;
  readonly #lastContext: unknown;
  #move: Move | undefined;
  readonly #main: ServerLane;
  #profile: CompiledProfile;
  #named: Map<string, Named> | undefined;
  #names: StreamNames | undefined;
  #sent: unknown[] | undefined;
  #hasAsked = false;

  constructor(
    engine: SocketEngine,
    connection: StreamConnection & Carrier,
    { request, facts, at }: { request: StreamRequest; facts: RequestFacts; at: number },
    profile: CompiledProfile,
  ) {
    this.#engine = engine;
    this.#connection = connection;
    this.#profile = profile;
    const asked = { request: facts, responseHeaders: NO_HEADERS, status: undefined };
    const { cursor } = claimOf(profile, subjectOf(asked, []));
    this.stream = engine.streams.open(request, facts, cursor, profile);
    this.#main = new ServerLane(undefined, this.stream);
    this.ordinal = this.stream.connections++;
    this.#lastContext = this.stream.lastContext;
    this.#departure = new Departure(this.stream, at, engine.reconnectWindow);
  }

  get previous(): unknown {
    return this.#move === undefined ? this.#lastContext : this.#departure.context;
  }

  /** A first connection of which nothing is known but that it is up. */
  get isPlain(): boolean {
    return this.#named === undefined && this.#move === undefined && this.#main.isPlain;
  }

  get settled(): boolean {
    if (this.#named === undefined) return this.#main.settled;
    return this.#participants().every(({ settled }) => settled);
  }

  get resumeRequested(): boolean {
    return this.#all().some(({ isResumed }) => isResumed);
  }

  get events(): number {
    return this.#sum(({ events }) => events);
  }

  get repeated(): number {
    return this.#sum(({ repeated }) => repeated);
  }

  /** The protocol has shown itself. */
  speak(profile: CompiledProfile): void {
    this.#profile = profile;
  }

  /** What request and response headers say. */
  headers(subject: Subject): void {
    const profile = this.#profile;
    const claim = claimOf(profile, subject);
    const { cursor = this.#departure.cursor } = claim;
    this.#move = this.#departure.move(cursor, profile);
    const epoch = epochOf(profile, subject, claim);
    this.#main.epoch = epoch?.token;
    this.#main.logEpoch = epoch?.ofLog;
    if (cursor === undefined || this.#main.events > 0) return;
    this.#main.resume(cursor, profile, subject.continuity);
  }

  /** The handshake is answered with 101. */
  carry(): void {
    if (this.#move !== undefined) this.stream.carrier?.leave();
    this.#engine.streams.carry(this.stream, this.#connection, this.#profile);
  }

  /** The reader goes on elsewhere. */
  leave(): void {
    this.#main.leave();
  }

  refuse(reason: RefusedReason): void {
    for (const lane of this.#participants()) {
      lane.refuse(reason);
      this.#tell(lane, 'open');
    }
  }

  /** A message whose frames nobody reads: all it says is that the connection is up. */
  passBy(): void {
    const main = this.#main;
    if (main.settled) return;
    main.wrote(placed(undefined), 0, this.#profile);
    main.events--;
    this.#tell(main, 'established');
  }

  /** A message of the client: it may name a stream, a cursor, a token. */
  asked(value: unknown, base: Subject): void {
    this.#hasAsked = true;
    if (typeof value !== 'object' || value === null) return;
    const profile = this.#profile;
    const own: Subject = { ...withSent(base, [value]), json: value };
    this.#names ??= new StreamNames();
    const name = this.#names.asked(profile, own);
    const named = name === undefined ? undefined : this.#lane(name);
    const sent = named?.sent ?? this.#mainSent();
    sent.push(value);
    if (sent.length > SENT_REMEMBERED) sent.shift();
    // What the headers said is answered already.
    const { cursor, epoch } = claimOf(profile, withSent({ continuity: undefined }, [value]));
    const lane = named?.lane ?? this.#main;
    if (epoch !== undefined) lane.epoch = epoch;
    if (cursor === undefined) return;
    if (lane === this.#main) this.#move = this.#departure.move(cursor, profile);
    lane.resume(cursor, profile, undefined);
  }

  /** A message to the client. @param scanned tag of the whole message. */
  wrote(message: Message, scanned: number, base: Subject): void {
    const profile = this.#profile;
    const frame = new Frame(base, message);
    const name = this.#names?.answered(profile, frame) ?? this.#nameIn(frame);
    const named = name === undefined ? undefined : this.#lane(name);
    const lane = named?.lane ?? this.#main;
    const sent = named?.sent ?? this.#sent;
    const subject = sent === undefined ? frame : frame.with(withSent(frame, sent));
    const facts = readFrame(profile, subject, lane.epoch !== undefined);
    if (facts.epoch !== undefined) this.#declared(lane, facts.epoch);
    if (facts.reset) lane.refuse('refusal_frame');
    const items = itemsOf(profile, subject);
    if (!facts.isSignal && !facts.isControl && items.length === 0) {
      lane.wrote(placed(facts.position), this.#tagOf(subject, scanned), profile);
    }
    for (const item of items) this.#wroteItem(lane, subject, item);
  }

  /** The same where the position is all that a message says. */
  wroteAt({ event, tag }: LonePosition): void {
    const main = this.#main;
    main.wrote(event, tag, this.#profile);
    if (!main.settled) this.evaluate('established');
  }

  /** @param phase `established`: what is written from here on is what was asked for. */
  evaluate(phase: 'open' | 'established' | 'timed_out' | 'ended'): void {
    for (const lane of this.#participants()) this.#tell(lane, this.#phaseOf(lane, phase));
  }

  close(): StreamReport[] {
    const reports = this.#participants().map((lane) => this.#report(lane));
    this.#main.close();
    for (const { lane, stream } of this.#named?.values() ?? []) {
      lane.close();
      this.#engine.streams.close(stream, this.#connection);
    }
    return reports;
  }

  /** A cursor may still come in a frame, until the client has said something without one. */
  #phaseOf(
    lane: ServerLane,
    phase: 'open' | 'established' | 'timed_out' | 'ended',
  ): 'open' | 'established' | 'timed_out' | 'ended' {
    if (phase !== 'established') return phase;
    const { cursorSent } = this.#profile;
    const mayAsk = cursorSent.some((place) => place.some(({ source }) => source === 'sent-json'));
    return lane.events === 0 || (mayAsk && !this.#hasAsked) ? 'open' : 'established';
  }

  #declared(lane: ServerLane, epoch: string): void {
    lane.epoch = epoch;
    if (!this.#profile.epochIsSession) lane.logEpoch = epoch;
  }

  #tell(lane: ServerLane, phase: 'open' | 'established' | 'timed_out' | 'ended'): void {
    if (lane.evaluate(phase)) this.#engine.observer.settled(this.#connection, this.#report(lane));
  }

  #report(lane: ServerLane): StreamReport {
    const move = lane === this.#main ? this.#move : undefined;
    return lane.report(this.#profile.epochIsSession, move);
  }

  #wroteItem(lane: ServerLane, frame: Frame, item: unknown): void {
    const inner = new Frame(frame, { value: item, text: jsonText(item) });
    const { position } = readFrame(this.#profile, inner, lane.epoch !== undefined);
    lane.wrote(placed(position), this.#tagOf(inner, undefined), this.#profile);
  }

  #tagOf(frame: Frame, scanned: number | undefined): number {
    return payloadTagOf(this.#engine, this.#profile, frame, scanned);
  }

  #nameIn(frame: Frame): string | undefined {
    return readFirst(this.#profile.stream, frame, this.#profile.separator);
  }

  #mainSent(): unknown[] {
    this.#sent ??= [];
    return this.#sent;
  }

  #lane(name: string): Named | undefined {
    this.#named ??= new Map();
    const found = this.#named.get(name);
    if (found !== undefined || this.#named.size >= MOST_NAMES) return found;
    const stream = this.#engine.streams.openNamed(this.stream, name);
    const lane = new ServerLane(name, stream);
    lane.epoch = this.#main.epoch;
    lane.logEpoch = this.#main.logEpoch;
    const named = { lane, stream, sent: [...(this.#sent ?? [])] };
    this.#named.set(name, named);
    return named;
  }

  #all(): ServerLane[] {
    const named = this.#named === undefined ? [] : [...this.#named.values()];
    return [this.#main, ...named.map(({ lane }) => lane)];
  }

  /** Where streams are named, the connection itself is one only by what it wrote (R19). */
  #participants(): ServerLane[] {
    const all = this.#all();
    return all.length > 1 && this.#main.events === 0 ? all.slice(1) : all;
  }

  #sum(of: (lane: ServerLane) => number): number {
    if (this.#named === undefined) return of(this.#main);
    return this.#all().reduce((total, lane) => total + of(lane), 0);
  }
}
