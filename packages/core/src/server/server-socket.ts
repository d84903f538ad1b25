import type {
  ConnectionEnd,
  HeaderLookup,
  MessageData,
  MessageUse,
  StreamConnection,
  StreamReport,
  StreamRequest,
} from '../connection.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { anyHolds } from '../profile/condition.ts';
import type { Subject } from '../profile/place.ts';
import type { HeaderFacts } from '../timeline/facts.ts';
import { claimOf, continuityOf, subjectOf } from '../timeline/facts.ts';
import { refusalOf } from '../timeline/lane-facts.ts';
import { Messages } from '../timeline/message-order.ts';
import { copyHeaders } from '../timeline/request-facts.ts';
import { ServerChoice } from './server-choice.ts';
import type { SocketEngine } from './server-lanes.ts';
import { ServerLanes } from './server-lanes.ts';
import type { Carrier } from './server-streams.ts';

/**
 * One WebSocket that this process has accepted. Its events are what it sends; what it receives may
 * name a stream and a cursor (V1–V9, R19).
 */
export class ServerSocket implements StreamConnection, Carrier {
  readonly role = 'server';
  readonly transport = 'websocket';
  context: unknown;
  readonly #engine: SocketEngine;
  readonly #choice: ServerChoice;
  readonly #lanes: ServerLanes;
  /** Let go once nothing looks into frames any more: the WebSocket may stay open for days. */
  #facts: HeaderFacts | undefined;
  #messages: Messages | undefined;
  #subject: Subject | undefined;
  #isUp = false;
  #over = false;

  constructor(engine: SocketEngine, request: StreamRequest, facts: HeaderFacts, at: number) {
    this.#engine = engine;
    this.#facts = facts;
    this.#choice = new ServerChoice(engine.profiles, engine.generic, facts.request.target);
    const asked = { request, facts: facts.request, at };
    this.#lanes = new ServerLanes(engine, this, asked, this.#choice.profile);
    this.#lookAt(facts);
  }

  get ordinal(): number {
    return this.#lanes.ordinal;
  }

  get previous(): unknown {
    return this.#lanes.previous;
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

  get reads(): MessageUse {
    return this.#choice.isOpen || this.#choice.profile.readsEvents ? 'messages' : 'nothing';
  }

  // A server answers a redirect and is done, and a WebSocket has no body.
  redirect(): void {}
  push(): void {}
  pushString(): void {}

  response(status: number, header: HeaderLookup): boolean {
    const { request } = this.#facts ?? {};
    if (request === undefined) return false;
    this.#isUp = status === 101;
    const responseHeaders = copyHeaders(this.#engine.responseHeaders, header);
    this.#lookAt({ request, responseHeaders, status });
    if (this.#isUp) {
      this.#lanes.carry();
      this.#lanes.evaluate('open');
    } else {
      this.#lanes.refuse(refusalOf(status));
      this.end('eof');
    }
    return this.#isUp;
  }

  message(data: MessageData): void {
    if (this.reads === 'messages') this.#follow().take({ data, own: true });
  }

  sent(data: MessageData): void {
    if (this.reads === 'messages') this.#follow().take({ data, own: false });
    else this.#lanes.passBy();
  }

  timeout(): void {
    this.#stopLooking();
    this.#lanes.evaluate('timed_out');
    this.#letGo();
  }

  end(end: ConnectionEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopLooking();
    const code = /^close:(\d+)$/.exec(end)?.[1];
    const { refused } = this.#choice.profile;
    if (code !== undefined && anyHolds(refused, { close: Number(code) })) {
      this.#lanes.refuse('refusal_frame');
    }
    if (this.#isUp) this.#lanes.evaluate('ended');
    const reports: StreamReport[] = this.#lanes.close();
    this.#engine.observer.ended(this, end, this.#isUp || this.settled ? reports : []);
  }

  leave(): void {
    this.#lanes.leave();
  }

  #lookAt(facts: HeaderFacts): void {
    this.#facts = facts;
    const base = subjectOf(facts, []);
    const claim = claimOf(this.#choice.profile, base);
    this.#subject = { ...base, continuity: continuityOf(facts, claim) };
    this.#meetSigns(() => [this.#subject ?? base]);
    this.#lanes.headers(this.#subject);
  }

  /** What was read as another protocol is read again once one is confirmed. */
  #meetSigns(see: (profile: CompiledProfile) => readonly Subject[]): void {
    if (!this.#choice.isOpen || !this.#choice.meetSigns(see)) return;
    this.#lanes.speak(this.#choice.profile);
    if (this.#subject !== undefined) this.#lanes.headers(this.#subject);
  }

  #follow(): Messages {
    this.#messages ??= new Messages(this.#choice, this.#engine.decodeBinary, {
      received: (message, payloadTag) => {
        this.#lanes.wrote(message, payloadTag, this.#subject ?? {});
        this.#lanes.evaluate(this.#choice.isOpen ? 'open' : 'established');
      },
      sent: ({ value }) => this.#lanes.asked(value, this.#subject ?? {}),
      showSigns: (see) => this.#meetSigns((profile) => see(profile, this.#subject ?? {})),
    });
    return this.#messages;
  }

  #stopLooking(): void {
    this.#choice.giveUp();
    this.#messages?.release();
    this.#letGo();
  }

  #letGo(): void {
    if (this.reads === 'messages') return;
    this.#messages = undefined;
    if (this.settled) this.#subject = this.#facts = undefined;
  }
}
