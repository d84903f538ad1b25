import type {
  ConnectionEnd,
  HeaderLookup,
  MessageData,
  MessageUse,
  StreamConnection,
  StreamRequest,
  Transport,
} from '../connection.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Subject } from '../profile/place.ts';
import { SseScanner } from '../sse/scanner.ts';
import type { SseSink } from '../sse/sink.ts';
import { noteFirst } from './delivery.ts';
import type { Engine } from './engine.ts';
import { ConnectionFacts } from './facts.ts';
import { Frame } from './frame.ts';
import { applyAnswer, opensStream, refusalOf } from './lane-facts.ts';
import { Lanes } from './lanes.ts';
import type { OpenConnection } from './logical-stream.ts';
import { Messages } from './message-order.ts';
import { passBy } from './pass-by.ts';
import { ProfileChoice } from './profile-choice.ts';
import { copyHeaders, factsOf } from './request-facts.ts';
import { Seat } from './seat.ts';
import { framesOf } from './sse-frames.ts';

const NOTHING_KNOWN: Subject = {};

/** One connection of a client: from its request to its verdict and its end. */
export class ClientConnection implements StreamConnection, OpenConnection, SseSink {
  readonly role = 'client';
  readonly transport: Transport;
  context: unknown;
  readonly #engine: Engine;
  readonly #seat: Seat;
  /** Let go once nothing asks any more: a stream may stay open for days. */
  #facts: ConnectionFacts | undefined;
  #answered = false;
  #choice: ProfileChoice;
  #messages: Messages | undefined;
  readonly #lanes: Lanes;
  #scanner: SseScanner | undefined;
  #textual = false;
  #lastNumber = -1;
  #sawId = false;
  #opens = false;
  #over = false;

  constructor(engine: Engine, request: StreamRequest, at: number) {
    this.#engine = engine;
    this.#seat = new Seat(engine, this, at);
    this.transport = request.transport;
    this.#choice = new ProfileChoice(engine, request.transport);
    this.#facts = new ConnectionFacts(factsOf(request, engine.requestHeaders));
    this.#seat.askKey(request);
    this.#lanes = new Lanes(engine, this);
    this.#begin();
  }

  get ordinal(): number {
    return this.#seat.ordinal;
  }

  get previous(): unknown {
    return this.#seat.previous;
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

  get retry(): number | undefined {
    return this.#scanner?.retry;
  }

  /** The last id received here, where it can be told; empty when the server cleared it. */
  get cursor(): string | undefined {
    return this.#lanes.main.lastId ?? (this.#sawId ? this.#scanner?.lastEventId : undefined);
  }

  redirect(request: StreamRequest): void {
    this.#facts?.redirected(factsOf(request, this.#engine.requestHeaders));
    this.#sit(this.#choice.profile);
  }

  response(status: number, header: HeaderLookup): boolean {
    this.#answered = true;
    if (this.#facts?.answered(status, copyHeaders(this.#engine.responseHeaders, header))) {
      this.#seat.rise();
      this.#begin();
    }
    this.#opens = opensStream(this.transport, status, header('content-type'));
    const subject = this.#subject();
    this.#meetSigns(() => [subject]);
    if (this.#seat.stream) this.#choice.headersRead(this.#seat.stream);
    this.#applyHeaders();
    if (!this.#opens) {
      const moves = this.#seat.announces(this.#facts, this.#choice.profile, status);
      if (!moves) this.#lanes.refuse(refusalOf(status));
      this.end('eof');
      return false;
    }
    this.#seat.carry(this.transport);
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

  get reads(): MessageUse {
    if (this.#textual) return 'messages';
    return this.#engine.identity === 'id' ? 'nothing' : 'identity';
  }

  message(data: MessageData): void {
    if (this.#textual) this.#followMessages().take({ data, own: false });
    else passBy(this.#engine, this.#lanes, data);
  }

  get readsRequests(): boolean {
    return this.#textual && (this.#choice.isOpen || this.#choice.profile.readsRequests);
  }

  sent(data: MessageData): void {
    if (this.readsRequests) this.#followMessages().take({ data, own: true });
  }

  timeout(): void {
    this.#choice.giveUp();
    this.#messages?.release();
    this.#lanes.timeOut();
    this.#readText();
  }

  /** An attempt without an answer, or whose first answer is no stream, was no connection (R1). */
  end(end: ConnectionEnd, at?: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#scanner?.end();
    this.#choice.giveUp();
    this.#messages?.release();
    this.#choice.takeForGeneric(this.#seat.stream, this.events);
    const counts = this.#opens || (this.#answered && this.#seat.isReconnect);
    const reports = counts ? this.#lanes.finish(end, this.cursor) : [];
    this.#seat.leave(counts, end, at);
    this.#engine.observer.ended(this, end, reports);
  }

  /** Hot path: one event of a stream whose frames need not be read. No allocation here. */
  event(scanner: SseScanner): void {
    if (this.#textual || scanner.dataLength === 0) {
      if (this.#textual) this.#readEvent(scanner);
      else this.idOnly(scanner);
      return;
    }
    const { main } = this.#lanes;
    const idTag = scanner.hasId ? scanner.idTag : 0;
    const payload = main.deliver(idTag, scanner.payloadTag, 0, this.#lanes.mark);
    if (scanner.hasId) this.#followNumber(scanner.idNumber);
    if (main.evidence !== undefined) {
      noteFirst(main, scanner.hasId ? scanner.lastEventId : undefined, payload);
      this.#lanes.evaluate(this.#choice.isOpen);
      this.#readText();
    }
  }

  /** S4, R18a: moves the cursor and can only show where the log ends. */
  idOnly(scanner: SseScanner): void {
    if (!scanner.hasId) return;
    this.#sawId = true;
    const { main } = this.#lanes;
    if (this.#textual && this.#choice.profile.usesEventIds) main.lastId = scanner.lastEventId;
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
    if (scanner.hasId) this.#sawId = true;
    for (const { frame, payloadTag } of framesOf(scanner, this.#choice.profile, this.#subject())) {
      this.#read(frame, payloadTag, scanner.dataLength === 0);
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
      received: (message, payloadTag) => {
        if (payloadTag === 0) this.#lanes.main.state.repeatsPayload = true;
        this.#read(new Frame(this.#subject(), message), payloadTag, false);
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
    this.#scanner ??= new SseScanner(this, {
      payload: this.#engine.identity === 'id' ? 'none' : 'hash',
      keep: this.#textual,
    });
    return this.#scanner;
  }

  /** Text is kept only as long as something looks into it. */
  #readText(): void {
    const textual = this.#choice.readsText;
    if (!textual && this.settled && this.#lanes.main.evidence === undefined) {
      this.#facts = undefined;
      this.#messages = undefined;
      this.#choice = this.#choice.shared();
    }
    if (textual === this.#textual) return;
    this.#textual = textual;
    this.#scanner?.setKeep(textual);
    // From here on the scanner alone knows the cursor.
    if (!textual && this.#choice.profile.usesEventIds) this.#lanes.main.lastId = undefined;
  }

  #subject(): Subject {
    return this.#facts?.subject(this.#choice.profile) ?? NOTHING_KNOWN;
  }

  #begin(): void {
    const request = this.#facts?.request;
    if (request) this.#sit(this.#choice.start(request, this.#subject(), this.#seat));
  }

  /** @param keyed the profile whose key finds the stream. */
  #sit(keyed: CompiledProfile): void {
    const { profile, isGeneric } = this.#choice;
    const facts = this.#facts;
    if (facts === undefined) return;
    const claim = facts.claim(profile);
    const stream = this.#seat.take(facts.request, keyed, profile, claim.cursor);
    if (!isGeneric) this.#engine.registry.confirm(stream, profile);
    this.#lanes.attach(this.#seat, stream, profile, this.#seat.handedOver(claim));
  }

  /** What was read as another protocol is read again once one is confirmed. */
  #meetSigns(see: (profile: CompiledProfile) => readonly Subject[]): void {
    const { stream } = this.#seat;
    if (stream === undefined || !this.#choice.meetSigns(stream, see)) return;
    this.#sit(this.#choice.profile);
    if (this.#answered) this.#applyHeaders();
  }

  #applyHeaders(): void {
    applyAnswer(this.#engine, this.#lanes, this.#choice.profile, this.#subject());
  }
}
