import type {
  ConnectionEnd,
  HeaderLookup,
  MessageData,
  MessageUse,
  StreamConnection,
  StreamRequest,
  Transport,
} from '../connection.ts';
import { isTwin, mayBeginTwin, readTwinComment, readTwinEvent } from '../continuity-twin.ts';
import type { SseScanner } from '../sse/scanner.ts';
import type { SseSink } from '../sse/sink.ts';
import type { ScannerHolder, SpareScanner } from '../sse/spare-scanner.ts';
import type { Engine } from './engine.ts';
import { Inquiry } from './inquiry.ts';
import type { OpenConnection } from './logical-stream.ts';
import { passBy } from './pass-by.ts';
import type { Standing } from './standing.ts';

const NO_ID = -1;

/** One connection of a client: from its request to its verdict and its end. */
export class ClientConnection implements StreamConnection, OpenConnection, SseSink, ScannerHolder {
  readonly transport: Transport;
  context: unknown;
  opensWith: StreamConnection['opensWith'];
  readonly #engine: Engine;
  #standing: Standing;
  /** Let go once nothing asks any more: a stream may stay open for days. */
  #inquiry: Inquiry | undefined;
  #scanner: SseScanner | undefined;
  /** Last id when the scanner was given back. */
  #idNumber = NO_ID;
  #lastNumber = NO_ID;
  #sawId = false;
  #over = false;
  /** Until its first event is there. */
  #mayOpenWithTwin = false;

  constructor(engine: Engine, request: StreamRequest, at: number) {
    this.transport = request.transport;
    this.context = undefined;
    this.opensWith = undefined;
    this.#engine = engine;
    engine.history.opened();
    const inquiry = new Inquiry(engine, this, request, at);
    this.#inquiry = inquiry;
    this.#standing = inquiry;
    this.#scanner = undefined;
  }

  get role(): 'client' {
    return 'client';
  }

  get ordinal(): number {
    return this.#standing.ordinal;
  }

  get previous(): unknown {
    return this.#standing.previous;
  }

  get resumeRequested(): boolean {
    return this.#standing.resumeRequested;
  }

  get protocol(): string {
    return this.#standing.profile.name;
  }

  get settled(): boolean {
    return this.#standing.settled;
  }

  get events(): number {
    return this.#standing.events;
  }

  get repeated(): number {
    return this.#standing.repeated;
  }

  /** The last id received here, where it can be told; empty when the server cleared it. */
  get cursor(): string | undefined {
    const { lastId } = this.#standing.main;
    if (lastId !== undefined || !this.#sawId) return lastId;
    return this.#scanner?.lastEventId ?? String(this.#idNumber);
  }

  redirect(request: StreamRequest): void {
    this.#inquiry?.redirect(request);
  }

  response(status: number, header: HeaderLookup): boolean {
    const opens = this.#inquiry?.answer(status, header) === true;
    if (opens) this.#turn();
    else this.end('eof');
    return opens;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return; // tells nothing, not even how the body begins
    this.#scan(bytes[0]).push(bytes);
  }

  pushString(text: string): void {
    if (text === '') return;
    this.#scan(text.charCodeAt(0)).pushString(text);
  }

  get reads(): MessageUse {
    if (this.#inquiry?.isTextual) return 'messages';
    return this.#engine.identity === 'id' ? 'nothing' : 'identity';
  }

  message(data: MessageData): void {
    const inquiry = this.#inquiry;
    if (inquiry?.isTextual) inquiry.followMessages().take({ data, own: false });
    else {
      const { main } = this.#standing;
      const payload = passBy(this.#engine, main, data, this.#mark);
      if (main.evidence === undefined) return;
      inquiry?.heard(undefined, payload);
    }
    this.#turn();
  }

  get readsRequests(): boolean {
    return this.#inquiry?.readsRequests === true;
  }

  sent(data: MessageData): void {
    if (!this.readsRequests) return;
    this.#inquiry?.followMessages().take({ data, own: true });
    this.#turn();
  }

  timeout(): void {
    this.#inquiry?.timeOut();
    this.#turn();
  }

  end(end: ConnectionEnd, at?: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#scanner?.end();
    const { registry, history, observer } = this.#engine;
    const reports = this.#standing.finish(end, this.cursor);
    this.#standing.leave({ registry, connection: this, end, at });
    history.closed();
    observer.ended(this, end, reports);
  }

  /** Hot path: one event of a stream whose text nobody reads. No allocation here. */
  event(scanner: SseScanner): void {
    const inquiry = this.#inquiry;
    if (this.#mayOpenWithTwin && this.#opensWithTwin(scanner)) return;
    if (inquiry?.isTextual) {
      if (scanner.hasId) this.#sawId = true;
      inquiry.readEvent(scanner);
      this.#turn();
      return;
    }
    if (scanner.dataLength === 0) {
      this.idOnly(scanner);
      return;
    }
    const { main } = this.#standing;
    const idTag = scanner.hasId ? scanner.idTag : 0;
    const payload = main.deliver(idTag, scanner.payloadTag, 0, this.#mark);
    if (scanner.hasId) this.#followNumber(scanner.idNumber);
    if (main.evidence === undefined) return;
    inquiry?.heard(scanner.hasId ? scanner.lastEventId : undefined, payload);
    this.#turn();
  }

  comment(text: string): void {
    if (this.#standing.events > 0 || this.#sawId) return;
    this.#inquiry?.told(readTwinComment(text));
    this.#turn();
  }

  #opensWithTwin(scanner: SseScanner): boolean {
    this.#mayOpenWithTwin = false;
    scanner.setKeep(this.#inquiry?.isTextual === true);
    if (!isTwin(scanner)) {
      this.opensWith?.(scanner.eventName, scanner.data);
      this.opensWith = undefined;
      return false;
    }
    this.#inquiry?.told(readTwinEvent(scanner.data));
    this.#turn();
    return true;
  }

  idOnly(scanner: SseScanner): void {
    if (!scanner.hasId) return;
    this.#sawId = true;
    this.#inquiry?.idOnly(scanner);
    this.#turn();
  }

  get #mark(): number {
    return this.#standing.ordinal & 0xffff;
  }

  /** R20 for plain numbers, without an object or a string. */
  #followNumber(number: number): void {
    this.#sawId = true;
    if (number < this.#lastNumber) {
      this.#engine.observer.inStream(this, { kind: 'cursor_not_advanced', missed: 'unknown' });
    }
    this.#lastNumber = number;
  }

  /** @param first Code of the first byte; of text, asking for it at every event would flatten each. */
  #scan(first: number | undefined): SseScanner {
    const { scanners } = this.#engine;
    if (scanners.holder !== this) scanners.pass(this);
    return this.#scanner ?? this.#take(scanners, first);
  }

  #take(scanners: SpareScanner, first: number | undefined): SseScanner {
    if (this.#idNumber !== NO_ID) this.#scanner = scanners.resume(this, this.#idNumber);
    else {
      this.#scanner = scanners.begin(this);
      this.#mayOpenWithTwin = mayBeginTwin(first);
      if (!this.#mayOpenWithTwin) this.opensWith = undefined;
    }
    const keep = this.#mayOpenWithTwin || this.#inquiry?.isTextual === true;
    if (keep) this.#scanner.setKeep(true);
    return this.#scanner;
  }

  yieldScanner(): SseScanner | undefined {
    const scanner = this.#scanner;
    if (scanner?.isIdle !== true) return undefined;
    this.#idNumber = scanner.idNumber;
    this.#scanner = undefined;
    return scanner;
  }

  /** Text is kept only as long as something looks into it, and the inquiry as long as it asks. */
  #turn(): void {
    const inquiry = this.#inquiry;
    if (inquiry === undefined) return;
    if (inquiry.turned()) this.#scanner?.setKeep(inquiry.isTextual);
    const outcome = inquiry.conclude();
    if (outcome === undefined) return;
    this.#standing = outcome;
    this.#inquiry = undefined;
  }
}
