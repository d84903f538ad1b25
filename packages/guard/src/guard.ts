import { Desk } from './desk.ts';
import type { EventSourceLike, Listening, ListenOptions } from './forms/event-source.ts';
import { listen } from './forms/event-source.ts';
import type { EventsOptions, GuardedEvent } from './forms/events.ts';
import { EventLoop } from './forms/events.ts';
import type { GuardedFetchOptions } from './forms/fetch.ts';
import { guardedFetch } from './forms/fetch.ts';
import { FIRST } from './judge.ts';
import { Office } from './office.ts';
import type { SseEvent } from './sse-event.ts';
import type { Bill, GuardOptions } from './types.ts';
import { EffectNotApplied } from './violation.ts';

/** An effect of one event. @throws EffectNotApplied when it knows that nothing has happened. */
export type Effect<Event extends SseEvent = SseEvent> = (event: Event) => PromiseLike<void> | void;

/** Applies the events of streams that reconnect: each once, or not without saying so. */
export interface Guard {
  /**
   * The events of one stream across its connections, each to be applied now. Asks the server for
   * what follows the position in the ledger, reconnects by itself, and goes on from there at the
   * next start. To ask for the next event says that this one was applied.
   *
   * @throws StreamResumptionViolation from the loop, with the connection closed and the position
   *   before the event in question.
   * @throws StreamRefused when the server declines for good.
   */
  events(url: string | URL, options?: EventsOptions): AsyncIterable<GuardedEvent>;
  /** The same, with the effect as a function: what it throws ends the run. */
  run(url: string | URL, effect: Effect<GuardedEvent>, options?: EventsOptions): Promise<void>;
  /** A `fetch` for clients that read event streams themselves, those of MCP above all. */
  fetch(options?: GuardedFetchOptions): typeof globalThis.fetch;
  /** Takes the events of an EventSource, or of what looks like one. */
  listen(source: EventSourceLike, effect: Effect, options?: ListenOptions): Listening;
  /**
   * Runs an effect once for a key of its own, whatever stream asked for it.
   *
   * @throws StreamResumptionViolation when an earlier try was cut short.
   */
  once(key: string, effect: () => PromiseLike<void> | void): Promise<'applied' | 'skipped'>;
  readonly bill: Bill;
  /** Ends all streams, waits for the effects that run, closes the ledger. */
  close(): Promise<void>;
}

/** @throws SyntaxError when one of the profiles cannot be read, at the first connection. */
export function createGuard(options: GuardOptions): Guard {
  const office = new Office(options);
  const events: Guard['events'] = (url, settings = {}) =>
    new EventLoop(office, url, settings).events();
  return {
    events,
    run: async (url, effect, settings) => {
      for await (const event of events(url, settings)) await runOne(event, effect);
    },
    fetch: (settings = {}) => guardedFetch(office, settings),
    listen: (source, effect, settings = {}) => listen(office, source, effect, settings),
    once: (key, effect) => once(office, key, effect),
    get bill(): Bill {
      return { ...office.bill };
    },
    close: () => office.close(),
  };
}

async function runOne(event: GuardedEvent, effect: Effect<GuardedEvent>): Promise<void> {
  try {
    await effect(event);
  } catch (error) {
    if (error instanceof EffectNotApplied) await event.release();
    throw error;
  }
  await event.confirm();
}

async function once(
  office: Office,
  key: string,
  effect: () => PromiseLike<void> | void,
): Promise<'applied' | 'skipped'> {
  const desk = new Desk(office, { stream: ONCE, held: undefined, isKept: false });
  const event: SseEvent = { id: undefined, lastEventId: '', event: 'message', data: '' };
  const admission = await desk.admitKeyed({
    event,
    key,
    ledgerKey: JSON.stringify([ONCE, key]),
    judgement: FIRST,
    course: 'reconcile',
  });
  if (admission.action === 'skip') {
    office.bill.skipped += 1;
    return 'skipped';
  }
  if (await office.execute(admission, effect)) return 'applied';
  throw desk.violation('reservation_lost', FIRST, event, key);
}

const ONCE = 'guard.once()';
