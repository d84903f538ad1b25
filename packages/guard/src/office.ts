import type { Admission } from './desk.ts';
import type { IdempotencyLedger, Position, Reservation } from './ledger/ledger.ts';
import { sleep } from './sleep.ts';
import type { Bill, GuardOptions } from './types.ts';
import { EffectNotApplied } from './violation.ts';

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };
type Reserved = Exclude<Reservation, { state: 'busy' }>;

/** Keys that this process executes; whoever meets one meanwhile waits for its outcome. */
const executing = new WeakMap<IdempotencyLedger, Map<string, PromiseWithResolvers<void>>>();

/** Milliseconds after which a key that another instance executes is asked for again at the latest. */
const BUSY_LIMIT = 1_000;
const DECISION_TIMEOUT = 15_000;
const HELD = 1_024;

/** What all streams of a guard share: the ledger, the bill, the end. */
export class Office {
  readonly options: GuardOptions;
  readonly bill: Writable<Bill> = {
    applied: 0,
    skipped: 0,
    reconciled: 0,
    inDoubt: 0,
    reoriginations: 0,
    confirmations: 0,
    violations: 0,
  };
  readonly waiting: {
    readonly decisionTimeout: number;
    readonly held: number;
    readonly sleep: typeof sleep;
  };
  readonly #closing = new AbortController();
  readonly #executing: Map<string, PromiseWithResolvers<void>>;

  constructor(options: GuardOptions) {
    this.options = options;
    const { decisionTimeout = DECISION_TIMEOUT, held = HELD } = options;
    this.waiting = { decisionTimeout, held, sleep: options.sleep ?? sleep };
    this.#executing = executing.get(options.ledger) ?? new Map();
    executing.set(options.ledger, this.#executing);
  }

  /** Aborted when the guard is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends the streams, waits for the effects that run, closes the ledger. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException('the guard was closed', 'AbortError'));
    await Promise.all([...this.#executing.values()].map(({ promise }) => promise));
    await this.options.ledger.close();
  }

  /**
   * Reserves a key, or says why not; waits while somebody executes it. Unless it is confirmed, the
   * key counts as executed here until it is confirmed, let go of or left.
   */
  async reserve(key: string): Promise<Reserved> {
    for (;;) {
      this.closed.throwIfAborted();
      const running = this.#executing.get(key);
      if (running !== undefined) {
        await running.promise;
        continue;
      }
      this.#executing.set(key, Promise.withResolvers());
      const reservation = await this.options.ledger.reserve(key).catch((error: unknown) => {
        this.leave(key);
        throw error;
      });
      if (reservation.state === 'reserved' || reservation.state === 'in_doubt') return reservation;
      this.leave(key);
      if (reservation.state === 'confirmed') return reservation;
      await this.waiting.sleep(Math.min(reservation.retryAfter, BUSY_LIMIT), this.closed);
    }
  }

  /** @returns Whether the reservation still was ours. */
  async confirm(key: string | undefined, position: Position | undefined): Promise<boolean> {
    const { ledger } = this.options;
    if (key === undefined) {
      if (position !== undefined) await ledger.advance(position);
      return true;
    }
    try {
      return await ledger.confirm(key, position);
    } finally {
      this.leave(key);
    }
  }

  /** `release`: the effect has not taken place. `abandon`: nobody knows. */
  async letGo(key: string | undefined, how: 'release' | 'abandon'): Promise<void> {
    if (key === undefined) return;
    try {
      await this.options.ledger[how](key);
    } finally {
      this.leave(key);
    }
  }

  /** Runs what decides about a key; where that fails, the key stays as it was. */
  async orLetGo<Result>(key: string, decide: () => Promise<Result>): Promise<Result> {
    try {
      return await decide();
    } catch (error) {
      this.leave(key);
      throw error;
    }
  }

  leave(key: string): void {
    this.#executing.get(key)?.resolve();
    this.#executing.delete(key);
  }

  /**
   * Runs an effect and settles its event.
   *
   * @returns Whether the reservation still was ours when it was done.
   * @throws what the effect throws; the event is in doubt then, unless that is `EffectNotApplied`.
   */
  async execute(
    { ledgerKey, position }: Extract<Admission, { action: 'execute' }>,
    effect: () => PromiseLike<void> | void,
  ): Promise<boolean> {
    try {
      await effect();
    } catch (error) {
      await this.letGo(ledgerKey, error instanceof EffectNotApplied ? 'release' : 'abandon');
      throw error;
    }
    this.bill.applied += 1;
    return this.confirm(ledgerKey, position);
  }

  async skip({ position }: { readonly position: Position | undefined }): Promise<void> {
    this.bill.skipped += 1;
    if (position !== undefined) await this.options.ledger.advance(position);
  }
}
