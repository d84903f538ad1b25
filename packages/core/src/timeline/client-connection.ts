import type {
  ConnectionEnd,
  HeaderLookup,
  StreamConnection,
  StreamRequest,
  Transport,
} from '../connection.ts';
import { textTagOf } from '../id-tag.ts';
import type { Message } from '../messages.ts';
import { splitMessages } from '../messages.ts';
import { candidatesFor, isConfirmed, signsMet } from '../profile/candidates.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { SseFields, Subject } from '../profile/place.ts';
import type { SseScanner, SseSink } from '../sse/scanner.ts';
import { SseScanner as Scanner } from '../sse/scanner.ts';
import type { Engine } from './engine.ts';
import type { HeaderFacts } from './facts.ts';
import { claimOf, continuityOf, subjectOf } from './facts.ts';
import { Frame } from './frame.ts';
import { keyOf, placeOf } from './key.ts';
import { applyHeaders, opensStream, refusalOf } from './lane-facts.ts';
import { Lanes } from './lanes.ts';
import type { Association } from './registry.ts';
import type { LogicalStream, OpenConnection } from './logical-stream.ts';
import type { RequestFacts } from './request-facts.ts';
import { copyHeaders, factsOf } from './request-facts.ts';

/** A profile that no sign confirmed within so many frames is given up. */
const FRAMES_FOR_SIGNS = 8;
const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/** One connection of a client: from its request to its verdict and its end. */
export class ClientConnection implements StreamConnection, OpenConnection, SseSink {
  readonly role = 'client';
  readonly transport: Transport;
  ordinal = 0;
  context: unknown;
  previous: unknown;
  readonly #engine: Engine;
  readonly #at: number;
  #stream: LogicalStream | undefined;
  #facts: HeaderFacts;
  #override: string | undefined;
  #cursor: string | undefined;
  #profile: CompiledProfile;
  #candidates: readonly CompiledProfile[] = [];
  #framesSeen = 0;
  #sent: unknown[] = [];
  #lanes: Lanes;
  #scanner: SseScanner | undefined;
  #textual = false;
  #lastNumber = -1;
  #sawId = false;
  #opens = false;
  #over = false;

  constructor(engine: Engine, request: StreamRequest, at: number) {
    this.#engine = engine;
    this.#at = at;
    engine.load.connections++;
    this.transport = request.transport;
    this.#profile = engine.generic[request.transport];
    this.#facts = this.#readRequest(request);
    this.#lanes = new Lanes(engine, this);
    this.#associate(this.#choose());
  }

  get resumeRequested(): boolean {
    return this.#lanes.resumeRequested;
  }

  get protocol(): string {
    return this.#profile.name;
  }

  get settled(): boolean {
    return this.#lanes.settled;
  }

  get events(): number {
    return this.#lanes.events;
  }

  get repeated(): number {
    return this.#lanes.repeated;
  }

  /** The last id received here, where it can be told; empty when the server cleared it. */
  get cursor(): string | undefined {
    const { lastId } = this.#lanes.main;
    return lastId ?? (this.#sawId ? this.#scanner?.lastEventId : undefined);
  }

  redirect(request: StreamRequest): void {
    const { path, target, method } = this.#facts.request;
    const next = this.#readRequest(request);
    // L6: the key is the first request's, the cursor the last one's.
    this.#facts = { ...next, request: { ...next.request, path, target, method } };
    this.#associate(this.#profile);
  }

  response(status: number, header: HeaderLookup): boolean {
    const { request } = this.#facts;
    const responseHeaders = copyHeaders(this.#engine.responseHeaders, header);
    this.#facts = { request, responseHeaders, status };
    this.#opens = opensStream(this.transport, status, header('content-type'));
    this.#meetSigns(this.#subject());
    this.#prune();
    this.#applyHeaders();
    if (!this.#opens) {
      this.#lanes.refuse(refusalOf(status));
      this.end('eof', this.#at);
      return false;
    }
    this.#lanes.evaluate(this.#isHeld);
    this.#readText();
    return true;
  }

  push(bytes: Uint8Array): void {
    this.#scan().push(bytes);
  }

  pushString(text: string): void {
    this.#scan().pushString(text);
  }

  message(data: string | Uint8Array): void {
    for (const { value, text } of this.#split(data)) {
      const frame = Frame.of(this.#subject(), value, text);
      this.#read(frame, textTagOf(text), false);
    }
  }

  sent(data: string | Uint8Array): void {
    for (const { value } of this.#split(data)) {
      if (typeof value === 'object' && value !== null) {
        this.#lanes.sent(value, this.#profile, this.#subject());
      }
    }
  }

  timeout(): void {
    this.#candidates = [];
    this.#lanes.timeOut();
    this.#readText();
  }

  end(end: ConnectionEnd, at: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#engine.load.connections--;
    this.#scanner?.end();
    this.#candidates = [];
    const { cursor } = this;
    const reports = this.#lanes.finish(end, cursor);
    const stream = this.#stream;
    if (stream !== undefined) {
      stream.open.delete(this);
      const answered = this.#facts.status !== undefined;
      const counts = this.#opens || (answered && this.#lanes.isReconnect);
      if (counts) stream.remember({ end, at, cursor, context: this.context });
      else stream.connections--;
      if (counts || stream.ended.length > 0) this.#engine.registry.closed(stream);
      else this.#engine.registry.discard(stream);
    }
    this.#engine.observer.ended(this, end, reports);
  }

  /** Hot path: one event of a stream whose frames need not be read. No allocation here. */
  event(scanner: SseScanner): void {
    if (this.#textual) {
      this.#readEvent(scanner);
      return;
    }
    if (scanner.dataLength === 0) {
      this.idOnly(scanner);
      return;
    }
    const { main } = this.#lanes;
    const idTag = scanner.hasId ? scanner.idTag : 0;
    const payload = main.deliver(idTag, scanner.payloadTag, 0, this.ordinal & 0xffff);
    if (scanner.hasId) this.#followNumber(scanner.idNumber);
    if (main.evidence !== undefined) {
      this.#lanes.first(main, scanner.hasId ? scanner.lastEventId : undefined, payload);
      this.#lanes.evaluate(this.#isHeld);
    }
  }

  /** S4, R18a: moves the cursor and can only show where the log ends. */
  idOnly(scanner: SseScanner): void {
    if (!scanner.hasId) return;
    this.#sawId = true;
    const { main } = this.#lanes;
    if (this.#textual && main.lastId !== undefined) main.lastId = scanner.lastEventId;
    if (main.evidence === undefined || scanner.idLength === 0) return;
    main.evidence.tailText = scanner.lastEventId;
    this.#lanes.evaluate(this.#isHeld);
  }

  /** R20 for plain numbers, without an object or a string. */
  #followNumber(number: number): void {
    this.#sawId = true;
    if (number < this.#lastNumber) {
      this.#engine.observer.inStream(this, { kind: 'cursor_not_advanced', missed: 'unknown' });
    }
    this.#lastNumber = number;
  }

  #readEvent(scanner: SseScanner): void {
    const { data } = scanner;
    const sse: SseFields = {
      id: scanner.hasId ? scanner.lastEventId : undefined,
      event: scanner.eventName || 'message',
      data,
    };
    if (scanner.hasId) this.#sawId = true;
    const { messages } = this.#profile;
    const isEmpty = scanner.dataLength === 0;
    if (messages === 'sse' || messages === 'json' || data === undefined) {
      const frame = new Frame(this.#subject(), data ?? '', sse);
      if (scanner.hasId) frame.idTag = scanner.idTag;
      this.#read(frame, scanner.payloadTag, isEmpty);
      return;
    }
    for (const { value, text } of splitMessages(messages, data)) {
      this.#read(Frame.of(this.#subject(), value, text, sse), textTagOf(text), isEmpty);
    }
  }

  #read(frame: Frame, payloadTag: number, isEmpty: boolean): void {
    if (this.#candidates.length > 0) {
      this.#meetSigns(frame);
      if (++this.#framesSeen >= FRAMES_FOR_SIGNS) this.#candidates = [];
    }
    this.#lanes.read(frame, this.#profile, payloadTag, isEmpty);
    this.#lanes.evaluate(this.#isHeld);
    this.#readText();
  }

  #split(data: string | Uint8Array): readonly Message[] {
    const { messages } = this.#profile;
    if (typeof data === 'string') return splitMessages(messages, data);
    const { decodeBinary } = this.#engine;
    if (decodeBinary !== undefined && (messages === 'cbor-seq' || messages === 'msgpack')) {
      return decodeBinary(messages, data).map((value) => ({ value, text: JSON.stringify(value) }));
    }
    return [{ value: undefined, text: String.fromCharCode(...data.subarray(0, 4096)) }];
  }

  #scan(): SseScanner {
    this.#scanner ??= new Scanner(this, {
      payload: this.#engine.identity === 'id' ? 'none' : 'hash',
      keep: this.#textual,
    });
    return this.#scanner;
  }

  /** Text is kept only as long as something looks into it. */
  #readText(): void {
    const { identity, identityKeys } = this.#engine;
    const textual =
      this.#candidates.length > 0 ||
      this.#profile.readsFrames ||
      this.#profile.cursorReceived.length > 1 ||
      !this.#profile.builtIn ||
      identityKeys.length > 0 ||
      identity === 'canonical-json';
    if (textual === this.#textual) return;
    this.#textual = textual;
    this.#scanner?.setKeep(textual);
  }

  /** Nothing is decided while a more specific protocol may still show itself. */
  get #isHeld(): boolean {
    return this.#candidates.length > 0;
  }

  #readRequest(request: StreamRequest): HeaderFacts {
    const facts: RequestFacts = factsOf(request, this.#engine.requestHeaders);
    this.#override ??= this.#engine.streamKey?.(request);
    const body = request.body?.();
    this.#sent = body === undefined ? [] : [body];
    return { request: facts, responseHeaders: NO_HEADERS, status: undefined };
  }

  #subject(): Subject {
    const subject = subjectOf(this.#facts, this.#sent);
    const continuity = this.#facts.responseHeaders.has('stream-continuity')
      ? continuityOf(this.#facts, claimOf(this.#profile, subject))
      : undefined;
    return continuity === undefined ? subject : { ...subject, continuity };
  }

  /** The profile in force at first: the stream's, a user's without signs, or the generic one. */
  #choose(): CompiledProfile {
    const { profiles } = this.#engine;
    const { request } = this.#facts;
    const { confirmed, open } = candidatesFor(profiles, this.transport, request.target);
    const subject = this.#subject();
    const presumed = confirmed ?? open.find((profile) => signsMet(profile, subject) !== 0);
    const known = this.#engine.registry.profileOf(this.#keyFor(presumed));
    const locked = known?.transport === undefined || known.transport === this.transport;
    if (known !== undefined && locked) this.#profile = known;
    else if (confirmed !== undefined) this.#profile = confirmed;
    else this.#candidates = open;
    return presumed ?? this.#profile;
  }

  #keyFor(profile: CompiledProfile | undefined): string {
    if (this.#override !== undefined) return `key ${this.#override}`;
    const isGeneric = profile === undefined || profile === this.#engine.generic[this.transport];
    return keyOf(this.#facts.request, isGeneric ? undefined : profile);
  }

  /** @param keyed the profile whose key finds the stream; it may be a presumption still. */
  #associate(keyed: CompiledProfile): void {
    const { request } = this.#facts;
    const claim = claimOf(this.#profile, this.#subject());
    const before = this.#stream;
    const found = this.#continues(claim.cursor) ?? this.#engine.registry.associate({
      request,
      key: this.#keyFor(keyed),
      place: placeOf(request),
      cursor: claim.cursor,
      profile: this.#profile,
      at: this.#at,
      current: before,
    });
    if (found.stream !== before) {
      before?.open.delete(this);
      if (before) this.#engine.registry.discard(before);
      found.stream.open.add(this);
      this.ordinal = found.stream.connections++;
    }
    this.#stream = found.stream;
    this.#cursor = claim.cursor;
    this.previous = found.previous ?? this.previous;
    const isKnown = this.#profile !== this.#engine.generic[this.transport];
    if (isKnown) found.stream.profile ??= this.#profile;
    this.#lanes.attach(found.stream, this.#profile, claim, found.reconnect, this.#candidates.length > 0);
  }

  /** A predecessor that was found stays, unless another cursor has come to light. */
  #continues(cursor: string | undefined): Association | undefined {
    const stream = this.#stream;
    if (stream === undefined || !this.#lanes.isReconnect || cursor !== this.#cursor) return undefined;
    return { stream, reconnect: true, previous: this.previous };
  }

  #meetSigns(subject: Subject): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    for (const profile of this.#candidates) {
      stream.signs ??= new Map();
      const mask = (stream.signs.get(profile) ?? 0) | signsMet(profile, subject);
      stream.signs.set(profile, mask);
      if (isConfirmed(profile, mask)) {
        this.#confirm(profile);
        return;
      }
    }
  }

  #confirm(profile: CompiledProfile): void {
    this.#candidates = [];
    this.#profile = profile;
    this.#associate(profile);
    if (this.#facts.status !== undefined) this.#applyHeaders();
  }

  /** Without a single sign by the time the headers are in, frames are not worth reading. */
  #prune(): void {
    const signs = this.#stream?.signs;
    this.#candidates = this.#candidates.filter((profile) => {
      const needsMore = this.transport === 'websocket' || (signs?.get(profile) ?? 0) !== 0;
      return needsMore && (!profile.builtIn || profile.readsFrames);
    });
  }

  #applyHeaders(): void {
    const subject = this.#subject();
    const { main } = this.#lanes;
    const { continuity } = this.#engine;
    if (this.#profile.builtIn && subject.continuity !== undefined) {
      applyHeaders(main, continuity, subject);
      this.#lanes.epochInHeader = subject.continuity.has('gen');
    }
    applyHeaders(main, this.#profile, subject);
  }
}
