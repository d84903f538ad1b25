import { randomUUID } from 'node:crypto';
import process from 'node:process';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { IdempotencyLedger, Position, Reservation } from './ledger.ts';

export interface SqliteLedgerOptions {
  /** Confirmed keys to remember; older ones are forgotten. Default: all. */
  readonly keep?: number;
  /** Milliseconds to wait for another process that writes to the file. Default 5,000. */
  readonly busyTimeout?: number;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS sameriver_effects (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    owner TEXT
  );
  CREATE TABLE IF NOT EXISTS sameriver_positions (
    stream TEXT PRIMARY KEY, cursor TEXT, epoch TEXT, run TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sameriver_forgotten (keys INTEGER NOT NULL);
`;

/** Confirmed keys beyond `keep` are removed so many at a time. */
const PRUNE_EVERY = 1_000;

/**
 * A ledger in one SQLite file, for one process. A reservation is on the disk before the effect runs
 * (WAL with synchronous FULL), a confirmation before the next event is taken, together with the
 * position: neither a crash nor a power cut takes them back.
 *
 * Needs `node:sqlite`, which Node marks experimental. Its calls block the process for the time of
 * one write and flush, a fraction of a millisecond on a solid-state disk.
 *
 * @param path Of the file; it may hold tables of the application too.
 * @throws Error of SQLite when the file cannot be opened or is none.
 */
export function sqliteLedger(path: string, options: SqliteLedgerOptions = {}): IdempotencyLedger {
  return new SqliteLedger(path, options);
}

class SqliteLedger implements IdempotencyLedger {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #owner: string = randomUUID();
  readonly #tokens = new Map<string, string>();
  readonly #keep: number;
  #reservations = 0;
  #confirmedSincePrune = 0;

  constructor(path: string, { keep = Number.POSITIVE_INFINITY, busyTimeout }: SqliteLedgerOptions) {
    this.#keep = keep;
    // Node warns as soon as the module is loaded: only whoever opens a ledger shall hear it.
    const sqlite = process.getBuiltinModule('node:sqlite');
    this.#database = new sqlite.DatabaseSync(path);
    this.#database.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeout ?? 5_000)}`);
    this.#database.exec('PRAGMA journal_mode = WAL');
    this.#database.exec('PRAGMA synchronous = FULL');
    this.#database.exec(SCHEMA);
  }

  get forgotten(): number {
    const row = this.#sql('SELECT coalesce(sum(keys), 0) AS keys FROM sameriver_forgotten').get();
    return Number(row?.['keys']);
  }

  async reserve(key: string): Promise<Reservation> {
    const token = this.#token();
    const { changes } = this.#run(
      'INSERT INTO sameriver_effects (key, owner) VALUES (?, ?) ON CONFLICT (key) DO NOTHING',
      key,
      token,
    );
    if (changes === 1) {
      this.#tokens.set(key, token);
      return { state: 'reserved', complete: this.forgotten === 0 };
    }
    const owner = this.#sql('SELECT owner FROM sameriver_effects WHERE key = ?').get(key)?.[
      'owner'
    ];
    return typeof owner === 'string' ? { state: 'in_doubt', token: owner } : { state: 'confirmed' };
  }

  async takeOver(key: string, token: string): Promise<boolean> {
    const own = this.#token();
    const { changes } = this.#run(
      'UPDATE sameriver_effects SET owner = ? WHERE key = ? AND owner = ?',
      own,
      key,
      token,
    );
    if (changes === 1) this.#tokens.set(key, own);
    return changes === 1;
  }

  async confirm(key: string, position: Position | undefined): Promise<boolean> {
    const token = this.#tokens.get(key);
    if (token === undefined) return false;
    this.#tokens.delete(key);
    return this.#atomically(() => {
      const { changes } = this.#run(
        'UPDATE sameriver_effects SET owner = NULL WHERE key = ? AND owner = ?',
        key,
        token,
      );
      if (changes === 0) return false;
      if (position !== undefined) this.#move(position);
      this.#confirmedSincePrune += 1;
      if (this.#confirmedSincePrune >= PRUNE_EVERY) this.#prune();
      return true;
    });
  }

  async release(key: string): Promise<void> {
    const token = this.#tokens.get(key);
    if (token === undefined) return;
    this.#tokens.delete(key);
    this.#run('DELETE FROM sameriver_effects WHERE key = ? AND owner = ?', key, token);
  }

  async abandon(key: string): Promise<void> {
    this.#tokens.delete(key);
  }

  async advance(position: Position): Promise<void> {
    this.#move(position);
  }

  async position(stream: string): Promise<Position | undefined> {
    const row = this.#sql(
      'SELECT cursor, epoch, run FROM sameriver_positions WHERE stream = ?',
    ).get(stream);
    if (row === undefined) return undefined;
    return {
      stream,
      cursor: textOf(row['cursor']),
      epoch: textOf(row['epoch']),
      run: String(row['run']),
    };
  }

  async forget(stream: string): Promise<void> {
    this.#run('DELETE FROM sameriver_positions WHERE stream = ?', stream);
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }

  #move({ stream, cursor, epoch, run }: Position): void {
    this.#run(
      'INSERT OR REPLACE INTO sameriver_positions (stream, cursor, epoch, run) VALUES (?, ?, ?, ?)',
      stream,
      cursor ?? null,
      epoch ?? null,
      run,
    );
  }

  #prune(): void {
    this.#confirmedSincePrune = 0;
    if (this.#keep === Number.POSITIVE_INFINITY) return;
    const { changes } = this.#run(
      `DELETE FROM sameriver_effects WHERE owner IS NULL AND number <= (
         SELECT number FROM sameriver_effects WHERE owner IS NULL
         ORDER BY number DESC LIMIT 1 OFFSET ?)`,
      this.#keep,
    );
    if (changes !== 0) this.#run('INSERT INTO sameriver_forgotten (keys) VALUES (?)', changes);
  }

  /** Each reservation has another token: one that was taken over cannot be taken over twice. */
  #token(): string {
    this.#reservations += 1;
    return `${this.#owner} ${this.#reservations}`;
  }

  #atomically<Result>(work: () => Result): Result {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #run(sql: string, ...values: SQLInputValue[]): { readonly changes: number } {
    return { changes: Number(this.#sql(sql).run(...values).changes) };
  }

  #sql(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
