/** How far a stream has been applied: what the next connection asks for. */
export interface Position {
  /** The logical stream, as the guard names it. */
  readonly stream: string;
  readonly cursor: string | undefined;
  /** The incarnation of the log that the cursor belongs to, where the server tells. */
  readonly epoch: string | undefined;
  /**
   * Name that the guard gives to one unbroken stretch of the stream: an id means one event inside
   * it, and may mean another one after a re-origination.
   */
  readonly run: string;
}

/**
 * What a ledger says of a key. `reserved`: it is yours now; execute, then confirm. `complete` is
 * false where the ledger has forgotten keys, so that it may have been applied all the same.
 * `confirmed`: it was applied. `in_doubt`: somebody reserved it, is gone, and never confirmed it;
 * `token` names that reservation. `busy`: another instance executes it at this moment; ask again in
 * so many milliseconds.
 */
export type Reservation =
  | { readonly state: 'reserved'; readonly complete: boolean }
  | { readonly state: 'confirmed' }
  | { readonly state: 'in_doubt'; readonly token: string }
  | { readonly state: 'busy'; readonly retryAfter: number };

/**
 * Which effects have taken place. A key goes from unknown over reserved to confirmed, each step
 * written before it is answered. Between reserve and confirm lies the effect: a process that dies
 * there leaves a reservation of which nobody can know whether its effect took place. A ledger never
 * decides that by itself, neither by an expiry nor at the next start.
 *
 * Every method rejects with the error of the storage when that fails; nothing is applied then.
 */
export interface IdempotencyLedger {
  reserve(key: string): Promise<Reservation>;
  /**
   * Takes a reservation over that is in doubt.
   *
   * @param token Of the answer `in_doubt`.
   * @returns Whether it is yours now; false when somebody else was faster.
   */
  takeOver(key: string, token: string): Promise<boolean>;
  /**
   * Says that the effect took place and how far the stream has come with it, in one step.
   *
   * @returns False when the reservation is not yours any more.
   */
  confirm(key: string, position: Position | undefined): Promise<boolean>;
  /** Gives a reservation of one's own back: its effect has not taken place. */
  release(key: string): Promise<void>;
  /** Leaves a reservation of one's own in doubt: its effect failed, and may have taken place. */
  abandon(key: string): Promise<void>;
  /** Moves a stream without an effect. */
  advance(position: Position): Promise<void>;
  position(stream: string): Promise<Position | undefined>;
  /** Forgets where a stream was: the next connection is its first. */
  forget(stream: string): Promise<void>;
  /** Keys that it let go of, as far as it knows. */
  readonly forgotten: number;
  close(): Promise<void>;
}

/**
 * A ledger could not be asked or told. Nothing is applied without it; what was under way is in doubt
 * at the next start, whether or not the ledger took it after all.
 */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable';

  /** @param what Where the ledger is kept. @param cause What its client threw. */
  constructor(what: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message || cause.name : String(cause);
    super(
      `the ledger in ${what} could not be used (${why}); nothing is applied without it: bring it ` +
        'back, then start again, which asks about the event that was under way',
      { cause },
    );
  }
}
