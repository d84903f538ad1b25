import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type {
  EventStore,
  FoundCursor,
  ReplayOptions,
} from '@sameriver/instrumentation-mcp/continuity';

/**
 * An event log in a file: it outlives the process, and so does its epoch, which is a row beside the
 * events. With the file the epoch is gone. After restoring an older copy, change it: numbers given since
 * are given again (`UPDATE log SET epoch = …`).
 *
 * ```js
 * withContinuity(store, { epoch: () => store.epoch(), find: (id) => store.find(id) });
 * ```
 */
export class SqliteEventStore implements EventStore {
  readonly #database: DatabaseSync;
  readonly #limit: number;

  /** @param limit Events to keep. */
  constructor(path: string, limit: number) {
    this.#database = new DatabaseSync(path);
    this.#limit = limit;
    // AUTOINCREMENT: a number is never given twice, also when the newest events were deleted.
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS log (epoch TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS events (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        stream TEXT NOT NULL,
        message TEXT NOT NULL
      );
      CREATE INDEX IF NOT EXISTS events_by_stream ON events (stream, position);
    `);
    this.#database
      .prepare('INSERT INTO log (epoch) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM log)')
      .run(randomUUID());
  }

  epoch(): string {
    return String(this.#get('SELECT epoch FROM log')?.['epoch']);
  }

  async storeEvent(stream: string, message: object): Promise<string> {
    const { lastInsertRowid } = this.#database
      .prepare('INSERT INTO events (stream, message) VALUES (?, ?)')
      .run(stream, JSON.stringify(message));
    const oldest = Number(lastInsertRowid) - this.#limit;
    this.#database.prepare('DELETE FROM events WHERE position <= ?').run(oldest);
    return String(lastInsertRowid);
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    const row = this.#get('SELECT stream FROM events WHERE position = ?', eventId);
    return row === undefined ? undefined : String(row['stream']);
  }

  async replayEventsAfter(eventId: string, { send }: ReplayOptions): Promise<string> {
    const stream = (await this.getStreamIdForEventId(eventId)) ?? '';
    const after = this.#database
      .prepare('SELECT position, message FROM events WHERE stream = ? AND position > ? ORDER BY 1')
      .all(stream, eventId);
    for (const { position, message } of after) {
      await send(String(position), JSON.parse(String(message)));
    }
    return stream;
  }

  find(eventId: string): FoundCursor {
    const row = this.#get('SELECT stream FROM events WHERE position = ?', eventId);
    if (row === undefined) return { kind: this.#wasIssued(eventId) ? 'evicted' : 'unknown' };
    const stream = String(row['stream']);
    const { next, newest } =
      this.#get(
        `SELECT min(position) FILTER (WHERE position > ? AND message <> '{}') AS next,
                max(position) AS newest FROM events WHERE stream = ?`,
        eventId,
        stream,
      ) ?? {};
    return {
      kind: 'kept',
      next: next == null ? undefined : String(next),
      newest: String(newest),
    };
  }

  getReplayWindow(): { usage: number; limit: number } {
    const usage = Number(this.#get('SELECT count(*) AS held FROM events')?.['held']);
    return { usage, limit: this.#limit };
  }

  close(): void {
    this.#database.close();
  }

  #wasIssued(eventId: string): boolean {
    const last = this.#get("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.['seq'];
    return /^[1-9]\d*$/.test(eventId) && Number(eventId) <= Number(last ?? 0);
  }

  #get(sql: string, ...values: string[]): Record<string, unknown> | undefined {
    return this.#database.prepare(sql).get(...values);
  }
}
