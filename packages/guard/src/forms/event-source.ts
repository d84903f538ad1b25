import { Desk } from '../desk.ts';
import type { Effect } from '../guard.ts';
import { FIRST, Judge } from '../judge.ts';
import type { Position } from '../ledger/ledger.ts';
import type { Office } from '../office.ts';
import type { SseEvent } from '../sse-event.ts';

/** The part of an EventSource that is needed; the built-in one and those of npm have it. */
export interface EventSourceLike {
  readonly url: string;
  addEventListener(name: string, listener: (event: EventLike) => void): void;
  removeEventListener(name: string, listener: (event: EventLike) => void): void;
  close(): void;
}

interface EventLike {
  readonly type: string;
  readonly data?: unknown;
  readonly lastEventId?: string;
}

export interface ListenOptions {
  /** Names of the events to take. Default: `message` alone. */
  readonly names?: readonly string[];
  /** Name of the stream. Default: origin and path of the source's URL. */
  readonly stream?: string;
  /**
   * Events that wait for their effect at most; a source cannot be made to wait, so it is closed with
   * a violation when there are more. Default 10,000.
   */
  readonly queued?: number;
}

export interface Listening {
  /** Resolves when the source was closed by `close` or with the guard, rejects with what stopped it. */
  readonly done: Promise<void>;
  close(): void;
}

const QUEUED = 10_000;
/** What a server stamps for those who see no header. */
const TWIN = 'stream-continuity';

/**
 * Takes the events of an EventSource one after the other. Such a source shows no header, so the
 * verdicts rest on ids and data alone, and most reconnects are unverifiable unless the server stamps
 * its continuity as an event as well: to a source that takes a `fetch`, that of the guard is the
 * better form.
 */
export function listen(
  office: Office,
  source: EventSourceLike,
  effect: Effect,
  options: ListenOptions,
): Listening {
  const listener = new Listener(office, source, effect, options);
  return { done: listener.done, close: () => listener.close() };
}

interface Connection {
  readonly judge: Judge;
  readonly desk: Desk;
}

class Listener {
  readonly done: Promise<void>;
  readonly #office: Office;
  readonly #source: EventSourceLike;
  readonly #effect: Effect;
  readonly #names: readonly string[];
  readonly #stream: string;
  readonly #queued: number;
  readonly #end = Promise.withResolvers<void>();
  #connection: Connection | undefined;
  #received: Position | undefined;
  #waiting = 0;
  #over = false;
  #last: Promise<void>;

  constructor(office: Office, source: EventSourceLike, effect: Effect, options: ListenOptions) {
    const { names = ['message'], stream, queued = QUEUED } = options;
    const { origin, pathname } = new URL(source.url);
    this.#office = office;
    this.#source = source;
    this.#effect = effect;
    this.#names = names;
    this.#stream = stream ?? `${origin}${pathname}`;
    this.#queued = queued;
    this.done = this.#end.promise;
    this.#last = office.options.ledger.position(this.#stream).then((held) => {
      this.#received ??= held;
    });
    this.#last.catch((error: unknown) => this.#stop(error));
    source.addEventListener('open', this.#opened);
    source.addEventListener(TWIN, this.#told);
    for (const name of names) source.addEventListener(name, this.#took);
    office.closed.addEventListener('abort', this.close);
  }

  readonly close = (): void => {
    this.#detach();
    this.#last.then(
      () => this.#end.resolve(),
      () => {},
    );
  };

  /** Only the last id counts for what the source asks for next. */
  readonly #opened = (): void => {
    this.#inTurn(async () => {
      this.#connection?.judge.end('reset');
      this.#connection = this.#connect();
    });
  };

  /** Before the first event of a connection; its id is that of the event before it. */
  readonly #told = ({ data }: EventLike): void => {
    this.#inTurn(async () => {
      this.#connection ??= this.#connect();
      const event = { id: undefined, lastEventId: '', event: TWIN, data: String(data) };
      this.#connection.judge.take({ kind: 'event', event });
    });
  };

  readonly #took = ({ type, data, lastEventId = '' }: EventLike): void => {
    const event: SseEvent = {
      id: lastEventId === '' ? undefined : lastEventId,
      lastEventId,
      event: type,
      data: String(data),
    };
    this.#waiting += 1;
    if (this.#waiting > this.#queued) this.#overflow(event);
    else
      this.#inTurn(async () => {
        this.#waiting -= 1;
        await this.#apply(event);
      });
  };

  #connect(): Connection {
    const { profiles } = this.#office.options;
    const { origin, pathname, search } = new URL(this.#source.url);
    const held = this.#received;
    const judge = new Judge(
      {
        transport: 'sse',
        method: 'GET',
        origin,
        target: pathname + search,
        header: (name) => (name === 'last-event-id' ? held?.cursor : undefined),
      },
      { profiles, held },
    );
    judge.answered(200, (name) => (name === 'content-type' ? 'text/event-stream' : undefined));
    return { judge, desk: new Desk(this.#office, { stream: this.#stream, held, isKept: true }) };
  }

  async #apply(event: SseEvent): Promise<void> {
    this.#connection ??= this.#connect();
    const { judge, desk } = this.#connection;
    if (!judge.take({ kind: 'event', event })) return;
    // What a profile would wait for cannot be awaited here: the next event may never come.
    if (judge.judgement === undefined) judge.timeOut();
    const { judgement } = judge;
    if (judgement === undefined) throw new TypeError('a timeline gave no verdict at its timeout');
    const admission = await desk.admit(event, judgement);
    this.#received = admission.position ?? this.#received;
    if (admission.action === 'skip') await this.#office.skip(admission);
    else if (!(await this.#office.execute(admission, () => this.#effect(event)))) {
      throw desk.violation('reservation_lost', judgement, event, admission.ledgerKey);
    }
  }

  #inTurn(step: () => Promise<void>): void {
    this.#last = this.#last.then(async () => {
      if (!this.#over) await step();
    });
    this.#last.catch((error: unknown) => this.#stop(error));
  }

  #overflow(event: SseEvent): void {
    const { desk, judge } = this.#connection ?? this.#connect();
    const judgement = judge.judgement ?? FIRST;
    this.#stop(desk.violation('overflow', judgement, event, undefined));
  }

  #stop(error: unknown): void {
    this.#detach();
    this.#end.reject(error);
  }

  #detach(): void {
    this.#over = true;
    this.#source.close();
    this.#source.removeEventListener('open', this.#opened);
    this.#source.removeEventListener(TWIN, this.#told);
    for (const name of this.#names) this.#source.removeEventListener(name, this.#took);
    this.#office.closed.removeEventListener('abort', this.close);
    this.#connection?.judge.end('aborted');
  }
}
