import type {
  ConnectionEnd,
  HeaderLookup,
  StreamConnection,
  StreamReport,
  StreamRequest,
} from '../connection.ts';
import type { PayloadUnderId } from '../evidence.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { ContinuityMembers, Subject } from '../profile/place.ts';
import type { SseScanner } from '../sse/scanner.ts';
import { isStoredAnswer } from '../stored-answer.ts';
import { noteFirst } from './delivery.ts';
import type { Engine } from './engine.ts';
import { ConnectionFacts } from './facts.ts';
import { Frame } from './frame.ts';
import type { Lane } from './lane.ts';
import { applyAnswer, opensStream, refusalOf } from './lane-facts.ts';
import { Lanes } from './lanes.ts';
import type { OpenConnection } from './logical-stream.ts';
import { Messages } from './message-order.ts';
import { Outcome } from './outcome.ts';
import { ProfileChoice } from './profile-choice.ts';
import { copyAnswer, factsOf } from './request-facts.ts';
import { Seat } from './seat.ts';
import { framesOf } from './sse-frames.ts';
import type { Leaving, Standing } from './standing.ts';

/**
 * Asks of one connection which stream it continues, which protocol it speaks and how it went on.
 * Lasts until all of that is known and nothing looks into the text of the stream.
 */
export class Inquiry implements Standing {
  /** Something looks into the text of events or messages. */
  isTextual = false;
  readonly #engine: Engine;
  readonly #connection: StreamConnection & OpenConnection;
  readonly #seat: Seat;
  readonly #facts: ConnectionFacts;
  readonly #choice: ProfileChoice;
  readonly #lanes: Lanes;
  #messages: Messages | undefined;
  #answered = false;
  #opens = false;
  #hearsTwin = false;

  constructor(
    engine: Engine,
    connection: StreamConnection & OpenConnection,
    request: StreamRequest,
    at: number,
  ) {
    this.#engine = engine;
    this.#connection = connection;
    this.#seat = new Seat(engine, connection, at);
    this.#choice = new ProfileChoice(engine, request.transport);
    this.#facts = new ConnectionFacts(factsOf(request, engine.requestHeaders));
    this.#seat.askKey(request);
    this.#lanes = new Lanes(engine, connection);
    this.#begin();
  }

  get main(): Lane {
    return this.#lanes.main;
  }

  get profile(): CompiledProfile {
    return this.#choice.profile;
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

  get settled(): boolean {
    return this.#lanes.settled;
  }

  get events(): number {
    return this.#lanes.events;
  }

  get repeated(): number {
    return this.#lanes.repeated;
  }

  get readsRequests(): boolean {
    return this.isTextual && (this.#choice.isOpen || this.profile.readsRequests);
  }

  redirect(request: StreamRequest): void {
    this.#facts.redirected(factsOf(request, this.#engine.requestHeaders));
    this.#sit(this.profile);
  }

  /** @returns whether the answer opens a stream. */
  answer(status: number, header: HeaderLookup): boolean {
    const { transport } = this.#connection;
    this.#answered = true;
    const headers = copyAnswer(this.#engine.responseHeaders, header);
    if (this.#facts.answered(status, headers)) {
      this.#seat.rise();
      this.#begin();
    }
    this.#opens = opensStream(transport, status, header('content-type'));
    // What the header says is not said twice, and what a cache gives was said to somebody else.
    this.#hearsTwin = header('stream-continuity') === undefined && !isStoredAnswer(header);
    const subject = this.#subject();
    this.#meetSigns(() => [subject]);
    if (this.#seat.stream) this.#choice.headersRead(this.#seat.stream);
    this.#applyHeaders();
    if (this.#opens) {
      this.#seat.carry(transport);
      this.#lanes.evaluate(this.#choice.isOpen);
    } else if (!this.#seat.announces(this.#facts, this.profile, status)) {
      this.#lanes.refuse(refusalOf(status));
    }
    return this.#opens;
  }

  /** Evidence in the first frame of the body, where there was none in the headers. */
  told(twin: ContinuityMembers | undefined): void {
    if (!this.#hearsTwin || twin === undefined) return;
    this.#hearsTwin = false;
    this.#facts.told(twin);
    this.#applyHeaders();
    this.#lanes.evaluate(this.#choice.isOpen);
  }

  /** The first event of a stream whose text nobody reads. */
  heard(id: string | undefined, payload: PayloadUnderId): void {
    noteFirst(this.main, id, payload);
    this.#lanes.evaluate(this.#choice.isOpen);
  }

  /** S4, R18a: moves the cursor and can only show where the log ends. */
  idOnly(scanner: SseScanner): void {
    const { main } = this;
    if (this.isTextual && this.profile.usesEventIds) main.lastId = scanner.lastEventId;
    if (main.evidence === undefined || scanner.idLength === 0) return;
    main.evidence.tailText = scanner.lastEventId;
    this.#lanes.evaluate(this.#choice.isOpen);
  }

  readEvent(scanner: SseScanner): void {
    const isEmpty = scanner.dataLength === 0;
    for (const { frame, payloadTag } of framesOf(scanner, this.profile, this.#subject())) {
      this.#read(frame, payloadTag, isEmpty);
    }
  }

  followMessages(): Messages {
    this.#messages ??= new Messages(this.#choice, this.#engine.decodeBinary, {
      received: (message, payloadTag) => {
        if (payloadTag === 0) this.main.state.repeatsPayload = true;
        this.#read(new Frame(this.#subject(), message), payloadTag, false);
      },
      sent: ({ value }) => {
        if (typeof value !== 'object' || value === null) return;
        this.#lanes.sent(value, this.profile, this.#subject());
      },
      showSigns: (see) => {
        const base = this.#subject();
        return this.#meetSigns((profile) => see(profile, base));
      },
    });
    return this.#messages;
  }

  timeOut(): void {
    this.#stopAsking();
    this.#lanes.timeOut();
  }

  /** An attempt without an answer, or whose first answer is no stream, was no connection (R1). */
  finish(end: ConnectionEnd, cursor: string | undefined): StreamReport[] {
    this.#stopAsking();
    this.#choice.takeForGeneric(this.#seat.stream, this.events);
    return this.#counts ? this.#lanes.finish(end, cursor) : [];
  }

  leave(leaving: Leaving): void {
    this.#seat.leave(this.#counts, leaving);
  }

  /** @returns true where it has turned out anew whether the text is read. */
  turned(): boolean {
    const { readsText } = this.#choice;
    if (readsText === this.isTextual) return false;
    this.isTextual = readsText;
    // From here on the scanner alone knows the cursor.
    if (!readsText && this.profile.usesEventIds) this.main.lastId = undefined;
    return true;
  }

  /** Ends the inquiry, and returns what is left of it; `undefined` while something is to be asked. */
  conclude(): Outcome | undefined {
    const { stream, move, at } = this.#seat;
    const { main, profile, ordinal, previous, resumeRequested } = this;
    const asks = this.isTextual || !this.settled || main.evidence !== undefined;
    if (asks || stream === undefined || this.#lanes.areNamed) return undefined;
    this.#choice.takeForGeneric(stream, this.events);
    const { epochIsSession } = this.#lanes;
    const known = { main, profile, ordinal, previous, resumeRequested };
    return new Outcome({ ...known, stream, at, epochIsSession, move });
  }

  get #counts(): boolean {
    return this.#opens || (this.#answered && this.#seat.isReconnect);
  }

  #stopAsking(): void {
    this.#choice.giveUp();
    this.#messages?.release();
  }

  #read(frame: Frame, payloadTag: number, isEmpty: boolean): void {
    if (this.#choice.isOpen) {
      this.#meetSigns(() => [frame]);
      this.#choice.frameRead();
    }
    this.#lanes.read(frame, this.profile, payloadTag, isEmpty);
    this.#lanes.evaluate(this.#choice.isOpen);
  }

  #subject(): Subject {
    return this.#facts.subject(this.profile);
  }

  #begin(): void {
    this.#sit(this.#choice.start(this.#facts.request, this.#subject(), this.#seat));
  }

  /** @param keyed the profile whose key finds the stream. */
  #sit(keyed: CompiledProfile): void {
    const { profile, isGeneric } = this.#choice;
    const claim = this.#facts.claim(profile);
    const stream = this.#seat.take(this.#facts.request, keyed, profile, claim.cursor);
    if (!isGeneric) this.#engine.registry.confirm(stream, profile);
    this.#lanes.attach(this.#seat, stream, profile, this.#seat.handedOver(claim));
  }

  /** What was read as another protocol is read again once one is confirmed. */
  #meetSigns(see: (profile: CompiledProfile) => readonly Subject[]): void {
    const { stream } = this.#seat;
    if (stream === undefined || !this.#choice.meetSigns(stream, see)) return;
    this.#sit(this.profile);
    if (this.#answered) this.#applyHeaders();
  }

  #applyHeaders(): void {
    applyAnswer(this.#engine, this.main, this.profile, this.#subject());
  }
}
