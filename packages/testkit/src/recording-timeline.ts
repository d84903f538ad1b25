import type {
  ConnectionEnd,
  HeaderLookup,
  MessageData,
  MessageUse,
  Role,
  StreamConnection,
  StreamRequest,
  StreamTimeline,
  Transport,
} from '@sameriver/core';

/** Methods of a timeline and its connections that a test may make throw. */
export type TimelineStep =
  | 'wants'
  | 'open'
  | 'redirect'
  | 'response'
  | 'push'
  | 'timeout'
  | 'end'
  | 'settled'
  | 'reads'
  | 'message'
  | 'sent';

/** One WebSocket message as a tap told of it; `undefined` when it could not be looked into. */
export interface RecordedExchange {
  readonly way: 'received' | 'sent';
  readonly data: MessageData;
}

/** What a tap told of one connection, in the order in which it told it. */
export class RecordingConnection implements StreamConnection {
  readonly role: Role;
  readonly transport: Transport;
  readonly ordinal = 0;
  readonly protocol: string;
  readonly previous = undefined;
  readonly repeated = 0;
  readonly request: StreamRequest;
  readonly resumeRequested: boolean;
  context: unknown;
  events = 0;
  /** `open`, `redirect /path`, `response 200`, `timeout`, `end eof`. */
  readonly steps: string[] = ['open'];
  /** Messages of a WebSocket. */
  readonly exchanges: RecordedExchange[] = [];
  readonly openedAt: number;
  endedAt: number | undefined;
  /** Headers of the answer; lower-case names. */
  responseHeader: HeaderLookup = () => undefined;
  readonly #timeline: RecordingTimeline;
  readonly #chunks: Uint8Array[] = [];

  constructor(timeline: RecordingTimeline, request: StreamRequest, at: number) {
    this.#timeline = timeline;
    this.role = timeline.role;
    this.transport = request.transport;
    this.protocol = request.transport;
    this.request = request;
    this.resumeRequested = request.header('last-event-id') !== undefined;
    this.openedAt = at;
  }

  /** The body as the tap fed it. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.bytes.toString();
  }

  get over(): boolean {
    return this.steps.some((step) => step.startsWith('end '));
  }

  get settled(): boolean {
    this.#timeline.enter('settled');
    const heard = this.#chunks.length + this.exchanges.length > 0;
    return this.#timeline.settles && heard;
  }

  redirect(request: StreamRequest): void {
    this.#step('redirect', request.target);
  }

  response(status: number, header: HeaderLookup): boolean {
    const stream =
      this.transport === 'websocket'
        ? status === 101
        : status === 200 && (header('content-type') ?? '').includes('text/event-stream');
    this.responseHeader = header;
    this.#step('response', String(status));
    return stream;
  }

  push(bytes: Uint8Array): void {
    this.#timeline.enter('push');
    this.#chunks.push(Uint8Array.from(bytes));
    this.#timeline.changed();
  }

  pushString(text: string): void {
    this.push(Buffer.from(text));
  }

  get reads(): MessageUse {
    this.#timeline.enter('reads');
    return this.#timeline.reads;
  }

  message(data: MessageData): void {
    this.#exchange('message', 'received', data);
  }

  sent(data: MessageData): void {
    this.#exchange('sent', 'sent', data);
  }

  timeout(): void {
    this.#step('timeout');
  }

  end(end: ConnectionEnd, at: number): void {
    this.endedAt = at;
    this.#step('end', end);
  }

  #exchange(step: 'message' | 'sent', way: 'received' | 'sent', data: MessageData): void {
    this.#timeline.enter(step);
    this.exchanges.push({ way, data: typeof data === 'object' ? Uint8Array.from(data) : data });
    this.#timeline.changed();
  }

  #step(name: 'redirect' | 'response' | 'timeout' | 'end', detail?: string): void {
    this.steps.push(detail === undefined ? name : `${name} ${detail}`);
    this.#timeline.changed();
    this.#timeline.enter(name);
  }
}

/** A timeline that judges nothing and remembers everything. */
export class RecordingTimeline implements StreamTimeline {
  readonly role: Role;
  readonly connections: RecordingConnection[] = [];
  /** Steps that throw. */
  readonly faults: Set<TimelineStep> = new Set();
  /** Answers `wants`. */
  wanted: (request: StreamRequest) => boolean = () => false;
  /** Whether a connection is settled by its first byte. */
  settles = true;
  /** What every WebSocket's messages are needed for. */
  reads: MessageUse = 'messages';
  #waiting: Array<() => void> = [];

  constructor(role: Role) {
    this.role = role;
  }

  wants(request: StreamRequest): boolean {
    this.enter('wants');
    return this.wanted(request);
  }

  open(request: StreamRequest, at: number): RecordingConnection {
    this.enter('open');
    const connection = new RecordingConnection(this, request, at);
    this.connections.push(connection);
    this.changed();
    return connection;
  }

  /** Resolves as soon as `reached` holds, which is asked after every step of every connection. */
  async until(reached: () => boolean): Promise<void> {
    while (!reached()) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves when so many connections are over. */
  async untilOver(connections: number): Promise<void> {
    await this.until(() => this.connections.filter(({ over }) => over).length >= connections);
  }

  enter(step: TimelineStep): void {
    if (this.faults.has(step)) throw new Error(`The timeline was told to fail at ${step}.`);
  }

  changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
