import type {
  ConnectionEnd,
  HeaderLookup,
  StreamConnection,
  StreamRequest,
  Transport,
} from '../connection.ts';
import { textTagOf } from '../id-tag.ts';
import { splitMessages } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { SseFields, Subject } from '../profile/place.ts';
import type { SseScanner } from '../sse/scanner.ts';
import { SseScanner as Scanner } from '../sse/scanner.ts';
import type { SseSink } from '../sse/sink.ts';
import type { Engine } from './engine.ts';
import type { HeaderFacts } from './facts.ts';
import { claimOf, continuityOf, subjectOf } from './facts.ts';
import { Frame } from './frame.ts';
import { keyOf, placeOf } from './key.ts';
import { applyHeaders, opensStream, refusalOf } from './lane-facts.ts';
import { Lanes } from './lanes.ts';
import type { LogicalStream, OpenConnection } from './logical-stream.ts';
import { Messages } from './message-order.ts';
import { ProfileChoice } from './profile-choice.ts';
import type { Association } from './registry.ts';
import type { RequestFacts } from './request-facts.ts';
import { copyHeaders, factsOf } from './request-facts.ts';

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
  readonly #choice: ProfileChoice;
  #messages: Messages | undefined;
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
    this.#choice = new ProfileChoice(engine, request.transport);
    this.#facts = this.#readRequest(request);
    this.#lanes = new Lanes(engine, this);
    this.#associate(this.#choice.start(this.#facts.request, this.#subject()));
  }

  get resumeRequested(): boolean {
    return this.#lanes.resumeRequested;
  }

  get protocol(): string {
    return this.#choice.profile.name;
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
    this.#associate(this.#choice.profile);
  }

  response(status: number, header: HeaderLookup): boolean {
    const { request } = this.#facts;
    const responseHeaders = copyHeaders(this.#engine.responseHeaders, header);
    this.#facts = { request, responseHeaders, status };
    this.#opens = opensStream(this.transport, status, header('content-type'));
    const subject = this.#subject();
    this.#meetSigns(() => [subject]);
    if (this.#stream) this.#choice.headersRead(this.#stream);
    this.#applyHeaders();
    if (!this.#opens) {
      this.#lanes.refuse(refusalOf(status));
      this.end('eof', this.#at);
      return false;
    }
    this.#lanes.evaluate(this.#choice.isOpen);
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
    this.#followMessages().take({ data, own: false });
  }

  sent(data: string | Uint8Array): void {
    this.#followMessages().take({ data, own: true });
  }

  timeout(): void {
    this.#choice.giveUp();
    this.#messages?.release();
    this.#lanes.timeOut();
    this.#readText();
  }

  end(end: ConnectionEnd, at: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#engine.load.connections--;
    this.#scanner?.end();
    this.#choice.giveUp();
    this.#messages?.release();
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
      this.#lanes.evaluate(this.#choice.isOpen);
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
    this.#lanes.evaluate(this.#choice.isOpen);
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
    const { messages } = this.#choice.profile;
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
    if (this.#choice.isOpen) {
      this.#meetSigns(() => [frame]);
      this.#choice.frameRead();
    }
    this.#lanes.read(frame, this.#choice.profile, payloadTag, isEmpty);
    this.#lanes.evaluate(this.#choice.isOpen);
    this.#readText();
  }

  #followMessages(): Messages {
    this.#messages ??= new Messages(this.#choice, this.#engine.decodeBinary, {
      received: ({ value, text }) => {
        this.#read(Frame.of(this.#subject(), value, text), textTagOf(text), false);
      },
      sent: ({ value }) => {
        if (typeof value !== 'object' || value === null) return;
        this.#lanes.sent(value, this.#choice.profile, this.#subject());
      },
      showSigns: (see) => {
        const base = this.#subject();
        return this.#meetSigns((profile) => see(profile, base));
      },
    });
    return this.#messages;
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
      this.#choice.isOpen ||
      this.#choice.profile.readsFrames ||
      this.#choice.profile.cursorReceived.length > 1 ||
      !this.#choice.profile.builtIn ||
      identityKeys.length > 0 ||
      identity === 'canonical-json';
    if (textual === this.#textual) return;
    this.#textual = textual;
    this.#scanner?.setKeep(textual);
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
      ? continuityOf(this.#facts, claimOf(this.#choice.profile, subject))
      : undefined;
    return continuity === undefined ? subject : { ...subject, continuity };
  }

  #keyFor(profile: CompiledProfile): string {
    if (this.#override !== undefined) return `key ${this.#override}`;
    const isGeneric = profile === this.#engine.generic[this.transport];
    return keyOf(this.#facts.request, isGeneric ? undefined : profile);
  }

  /** @param keyed the profile whose key finds the stream; it may be a presumption still. */
  #associate(keyed: CompiledProfile): void {
    const { request } = this.#facts;
    const claim = claimOf(this.#choice.profile, this.#subject());
    const before = this.#stream;
    const found =
      this.#continues(claim.cursor) ??
      this.#engine.registry.associate({
        request,
        key: this.#keyFor(keyed),
        place: placeOf(request),
        cursor: claim.cursor,
        profile: this.#choice.profile,
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
    if (!this.#choice.isGeneric) found.stream.profile ??= this.#choice.profile;
    this.#lanes.attach(found.stream, this.#choice.profile, claim, found.reconnect);
  }

  /** A predecessor that was found stays, unless another cursor has come to light. */
  #continues(cursor: string | undefined): Association | undefined {
    const stream = this.#stream;
    if (stream === undefined || !this.#lanes.isReconnect || cursor !== this.#cursor)
      return undefined;
    return { stream, reconnect: true, previous: this.previous };
  }

  /** What was read as another protocol is read again once one is confirmed. */
  #meetSigns(see: (profile: CompiledProfile) => readonly Subject[]): void {
    const stream = this.#stream;
    if (stream === undefined || !this.#choice.meetSigns(stream, see)) return;
    this.#associate(this.#choice.profile);
    if (this.#facts.status !== undefined) this.#applyHeaders();
  }

  #applyHeaders(): void {
    const subject = this.#subject();
    const { main } = this.#lanes;
    const { continuity } = this.#engine;
    if (this.#choice.profile.builtIn && subject.continuity !== undefined) {
      applyHeaders(main, continuity, subject);
      this.#lanes.epochInHeader = subject.continuity.has('gen');
    }
    applyHeaders(main, this.#choice.profile, subject);
  }
}
