import type { StreamRequest } from '@sameriver/core';
import type { Standing } from '../course.ts';
import type { Admission } from '../desk.ts';
import { Desk } from '../desk.ts';
import { Judge } from '../judge.ts';
import type { JudgedPart } from '../judged-stream.ts';
import { JudgedStream } from '../judged-stream.ts';
import type { Position } from '../ledger/ledger.ts';
import type { Office } from '../office.ts';
import type { SseEvent } from '../sse-event.ts';
import { StreamRefused } from '../violation.ts';

/** An event that is to be applied now. */
export interface GuardedEvent extends SseEvent {
  readonly standing: Standing;
  /**
   * Says that its effect took place. To ask for the next event says so too; needed only where the
   * loop may be left after this event.
   */
  confirm(): Promise<void>;
  /** Says that its effect has not taken place: the event runs when it comes again. */
  release(): Promise<void>;
}

export interface EventsOptions {
  /** Name under which the ledger keeps the position. Default: origin and path of the URL. */
  readonly stream?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Ends the stream; the loop ends without an error. */
  readonly signal?: AbortSignal;
  /** Milliseconds before a reconnect until the stream names another time. Default 1,000. */
  readonly retry?: number;
}

/** Milliseconds. */
const RETRY = 1_000;
const RETRY_LIMIT = 30_000;
/** Answers after which the next attempt may find another state. */
const MAY_PASS: ReadonlySet<number> = new Set([408, 425, 429]);

/** Reads one stream for as long as it goes on, from where the ledger says that it was left. */
export class EventLoop {
  readonly #office: Office;
  readonly #url: URL;
  readonly #options: EventsOptions;
  readonly #stream: string;
  readonly #over: AbortSignal;
  #retry: number;
  #failures = 0;

  constructor(office: Office, url: string | URL, options: EventsOptions) {
    this.#office = office;
    this.#url = new URL(url);
    this.#options = options;
    this.#stream = options.stream ?? `${this.#url.origin}${this.#url.pathname}`;
    this.#over = AbortSignal.any([office.closed, ...(options.signal ? [options.signal] : [])]);
    this.#retry = options.retry ?? RETRY;
    // Headers that cannot be sent are a mistake, and no failure of the network.
    new Headers(options.headers);
  }

  async *events(): AsyncGenerator<GuardedEvent, void, undefined> {
    const { ledger } = this.#office.options;
    while (!this.#over.aborted) {
      const held = await ledger.position(this.#stream);
      const outcome = await this.#connect(held);
      if (outcome === 'over') return;
      if (outcome !== 'again') yield* this.#read(outcome, held);
      await this.#pause();
    }
  }

  async #connect(held: Position | undefined): Promise<JudgedStream | 'again' | 'over'> {
    const { fetch = globalThis.fetch } = this.#options;
    const headers = this.#headers(held?.cursor);
    const { profiles } = this.#office.options;
    const judge = new Judge(this.#asRequest(headers), { profiles, held });
    const response = await fetch(this.#url, { headers, signal: this.#over }).catch(
      (error: unknown) => {
        if (!isNetworkError(error)) throw error;
        return undefined;
      },
    );
    if (this.#over.aborted) return 'over';
    if (response === undefined) return this.#failed();
    const { status, body } = response;
    const opens = judge.answered(status, (name) => response.headers.get(name) ?? undefined);
    if (opens && body !== null) return new JudgedStream(judge, body, this.#office.waiting);
    await body?.cancel();
    if (status === 204) return 'over';
    if (status >= 500 || MAY_PASS.has(status)) return this.#failed();
    throw new StreamRefused(this.#stream, status);
  }

  async *#read(
    stream: JudgedStream,
    held: Position | undefined,
  ): AsyncGenerator<GuardedEvent, void, undefined> {
    const desk = new Desk(this.#office, { stream: this.#stream, held, isKept: true });
    try {
      for (;;) {
        const next = await this.#next(stream);
        if (next === undefined) return;
        const { part, judgement, isApplicationEvent, retry } = next;
        this.#failures = 0;
        this.#retry = retry ?? this.#retry;
        if (part.kind === 'id') desk.pass(part.id);
        if (part.kind !== 'event' || !isApplicationEvent) continue;
        const admission = await desk.admit(part.event, judgement);
        if (admission.action === 'skip') await this.#office.skip(admission);
        else yield* this.#hand(part.event, next, admission, desk);
      }
    } finally {
      await stream.cancel().catch(() => {});
    }
  }

  /** Hands an event out; the next request for one says that it was applied. */
  async *#hand(
    event: SseEvent,
    { judgement }: JudgedPart,
    admission: Extract<Admission, { action: 'execute' }>,
    desk: Desk,
  ): AsyncGenerator<GuardedEvent, void, undefined> {
    const { ledgerKey, position } = admission;
    let settled = false;
    const confirm = async (): Promise<void> => {
      if (settled) return;
      settled = true;
      this.#office.bill.applied += 1;
      if (await this.#office.confirm(ledgerKey, position)) return;
      throw desk.violation('reservation_lost', judgement, event, ledgerKey);
    };
    const release = async (): Promise<void> => {
      if (settled) return;
      settled = true;
      await this.#office.letGo(ledgerKey, 'release');
    };
    try {
      const { standing } = await desk.standingOf(judgement);
      yield { ...event, standing, confirm, release };
      await confirm();
    } finally {
      // The loop was left by a break or an error: who knows how far the effect came.
      if (!settled) await this.#office.letGo(ledgerKey, 'abandon');
    }
  }

  /** A connection that breaks is no error of the stream: there will be another. */
  async #next(stream: JudgedStream): Promise<JudgedPart | undefined> {
    if (this.#over.aborted) return undefined;
    return await stream.next().catch((error: unknown) => {
      if (this.#over.aborted || isNetworkError(error)) return undefined;
      throw error;
    });
  }

  #headers(cursor: string | undefined): Record<string, string> {
    return {
      accept: 'text/event-stream',
      'cache-control': 'no-store',
      ...this.#options.headers,
      ...(cursor !== undefined && { 'last-event-id': cursor }),
    };
  }

  #asRequest(headers: Readonly<Record<string, string>>): StreamRequest {
    const { origin, pathname, search } = this.#url;
    const byName = new Map(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    return {
      transport: 'sse',
      method: 'GET',
      origin,
      target: pathname + search,
      header: (name) => byName.get(name),
    };
  }

  #failed(): 'again' {
    this.#failures += 1;
    return 'again';
  }

  async #pause(): Promise<void> {
    if (this.#over.aborted) return;
    const time = Math.min(this.#retry * 2 ** Math.min(this.#failures, 16), RETRY_LIMIT);
    await this.#office.waiting.sleep(Math.max(time, this.#retry), this.#over).catch(() => {});
  }
}

/** What fetch and its bodies fail with when the network does. */
function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === 'AbortError');
}
