import type {
  ConnectionEnd,
  HeaderLookup,
  MessageCounter,
  MessageData,
  MessageUse,
  StreamConnection,
  StreamRequest,
} from '../connection.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { anyHolds } from '../profile/condition.ts';
import type { Subject } from '../profile/place.ts';
import { decodeUtf8 } from '../sse/utf8.ts';
import type { HeaderFacts } from '../timeline/facts.ts';
import { claimOf, continuityOf, subjectOf } from '../timeline/facts.ts';
import { refusalOf } from '../timeline/lane-facts.ts';
import { Messages } from '../timeline/message-order.ts';
import { copyHeaders } from '../timeline/request-facts.ts';
import { loneMemberOf, lonePosition } from './lone-position.ts';
import { readAs, ServerChoice } from './server-choice.ts';
import { firstReport } from './server-lane.ts';
import type { SocketEngine } from './server-lanes.ts';
import { ServerLanes } from './server-lanes.ts';
import type { Carrier, ServerStream } from './server-streams.ts';

/** What frames are looked at by, and the headers that places may point into. */
interface Looks {
  facts: HeaderFacts | undefined;
  subject: Subject;
  messages: Messages | undefined;
}

/**
 * One WebSocket that this process has accepted. Its events are what it sends; what it receives may
 * name a stream and a cursor (V1–V9, R19).
 */
export class ServerSocket implements StreamConnection, Carrier {
  // Asked at every message, so they are fields.
  reads: MessageUse = 'messages';
  readsRequests = true;
  #member: string | undefined;
  context: unknown;
  readonly ordinal: number;
  readonly #engine: SocketEngine;
  readonly #stream: ServerStream;
  #profile: CompiledProfile;
  // What follows is let go as soon as nobody asks for it: a WebSocket may stay open for days.
  #choice: ServerChoice | undefined;
  #lanes: ServerLanes | undefined;
  #looks: Looks | undefined;
  #counter: MessageCounter | undefined;
  #passed = 0;
  #state: 'asked' | 'up' | 'over' = 'asked';

  constructor(engine: SocketEngine, request: StreamRequest, facts: HeaderFacts, at: number) {
    this.#engine = engine;
    const choice = new ServerChoice(engine.profiles, engine.generic, facts.request.target);
    this.#choice = choice;
    this.#profile = choice.profile;
    const asked = { request, facts: facts.request, at };
    const lanes = new ServerLanes(engine, this, asked, choice.profile);
    this.#lanes = lanes;
    this.#stream = lanes.stream;
    this.ordinal = lanes.ordinal;
    this.#lookAt(facts);
  }

  get role(): 'server' {
    return 'server';
  }

  get transport(): 'websocket' {
    return 'websocket';
  }

  get previous(): unknown {
    return this.#lanes?.previous;
  }

  get resumeRequested(): boolean {
    return this.#lanes?.resumeRequested ?? false;
  }

  get protocol(): string {
    return this.#profile.name;
  }

  get settled(): boolean {
    return this.#lanes?.settled ?? true;
  }

  get events(): number {
    return (this.#lanes?.events ?? 0) + this.#passed + (this.#counter?.messages ?? 0);
  }

  get repeated(): number {
    return this.#lanes?.repeated ?? 0;
  }

  // A server answers a redirect and is done, and a WebSocket has no body.
  redirect(): void {}
  push(): void {}
  pushString(): void {}

  response(status: number, header: HeaderLookup): boolean {
    const { request } = this.#looks?.facts ?? {};
    if (request === undefined || this.#state !== 'asked') return false;
    const responseHeaders = copyHeaders(this.#engine.responseHeaders, header);
    this.#lookAt({ request, responseHeaders, status });
    if (status === 101) {
      this.#state = 'up';
      this.#lanes?.carry();
      this.#lanes?.evaluate('open');
      return true;
    }
    this.#lanes?.refuse(refusalOf(status));
    this.end('eof');
    return false;
  }

  message(data: MessageData): void {
    if (this.readsRequests) this.#follow(data, true);
  }

  sent(data: MessageData, isText: boolean = typeof data === 'string'): void {
    if (this.#member !== undefined && isText) this.#sentAlone(data, this.#member);
    else if (this.reads !== 'nothing') this.#follow(data, false);
    else {
      this.#passed++;
      this.#lanes?.passBy();
      this.#letGo();
    }
  }

  countWith(counter: MessageCounter): void {
    this.#counter = counter;
  }

  timeout(): void {
    this.#stopLooking();
    this.#lanes?.evaluate('timed_out');
    this.#letGo();
  }

  end(end: ConnectionEnd): void {
    if (this.#state === 'over') return;
    const wasUp = this.#state === 'up';
    this.#state = 'over';
    this.#stopLooking();
    const code = /^close:(\d+)$/.exec(end)?.[1];
    if (code !== undefined && anyHolds(this.#profile.refused, { close: Number(code) })) {
      this.#lanes?.refuse('refusal_frame');
    }
    if (wasUp) this.#lanes?.evaluate('ended');
    const reports = this.#lanes?.close() ?? [firstReport()];
    this.#engine.streams.close(this.#stream, this);
    this.#engine.observer.ended(this, end, wasUp || this.settled ? reports : []);
  }

  leave(): void {
    this.#lanes?.leave();
  }

  #lookAt(facts: HeaderFacts): void {
    const base = subjectOf(facts, []);
    const continuity = continuityOf(facts, claimOf(this.#profile, base));
    const subject = { ...base, continuity };
    this.#looks ??= { facts, subject, messages: undefined };
    Object.assign(this.#looks, { facts, subject });
    this.#meetSigns(() => [subject]);
    if (facts.status !== undefined) this.#choice?.headersRead();
    if (this.#choice?.isOpen === false) this.#choose();
    this.#lanes?.headers(subject);
  }

  /** Which protocol it is will not change any more. */
  #choose(): void {
    this.#choice = undefined;
    const { readsEvents, readsRequests } = this.#profile;
    this.#member = loneMemberOf(this.#profile);
    this.readsRequests = readsRequests;
    this.reads = this.#member !== undefined ? 'member' : readsEvents ? 'messages' : 'nothing';
  }

  /** What was read as another protocol is read again once one is confirmed. */
  #meetSigns(see: (profile: CompiledProfile) => readonly Subject[]): void {
    const choice = this.#choice;
    if (choice?.isOpen !== true || !choice.meetSigns(see)) return;
    this.#profile = choice.profile;
    this.#lanes?.speak(choice.profile);
    this.#lanes?.headers(this.#subject);
  }

  #follow(data: MessageData, own: boolean): void {
    this.#looks ??= { facts: undefined, subject: {}, messages: undefined };
    this.#looks.messages ??= this.#messages(this.#looks);
    this.#looks.messages.take({ data, own });
    if (this.#choice?.isOpen === false) this.#choose();
    this.#letGo();
  }

  #messages(looks: Looks): Messages {
    const choice = this.#choice ?? readAs(this.#profile);
    return new Messages(choice, this.#engine.decodeBinary, {
      received: (message, payloadTag) => {
        this.#lanes?.wrote(message, payloadTag, looks.subject);
        this.#lanes?.evaluate(this.#choice?.isOpen === true ? 'open' : 'established');
      },
      sent: ({ value }) => this.#lanes?.asked(value, looks.subject),
      showSigns: (see) => this.#meetSigns((profile) => see(profile, this.#subject)),
    });
  }

  get #subject(): Subject {
    return this.#looks?.subject ?? {};
  }

  #sentAlone(data: MessageData, member: string): void {
    const found = lonePosition(data, member, this.#engine.identity !== 'id');
    if (found !== undefined) this.#lanes?.wroteAt(found);
    else if (typeof data === 'object') this.#follow(decodeUtf8(data, 0, data.length), false);
    else this.#follow(data, false);
  }

  #stopLooking(): void {
    this.#choice?.giveUp();
    this.#looks?.messages?.release();
    if (this.#choice !== undefined) this.#choose();
    this.#letGo();
  }

  #letGo(): void {
    if (this.reads !== 'nothing' || !this.settled) return;
    this.#looks = undefined;
    if (this.#lanes?.isPlain !== true) return;
    this.#passed += this.#lanes.events;
    this.#lanes = undefined;
  }
}
