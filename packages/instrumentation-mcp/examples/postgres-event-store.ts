import { randomUUID } from 'node:crypto';
import type {
  EventStore,
  FoundCursor,
  ReplayOptions,
} from '@sameriver/instrumentation-mcp/continuity';
import type { Pool } from 'pg';

/**
 * An event log in PostgreSQL, for several instances. The epoch is a row of the same database. After
 * restoring a backup, change it: numbers given since are given again
 * (`UPDATE mcp_log SET epoch = gen_random_uuid()`).
 *
 * Numbers are given before a transaction commits, so two writers of one stream could commit in
 * another order than they are numbered. A stream of MCP has one writer: the process of its session.
 *
 * ```js
 * withContinuity(store, { epoch: () => store.epoch(), find: (id) => store.find(id) });
 * ```
 */
export class PostgresEventStore implements EventStore {
  readonly #pool: Pool;
  readonly #limit: number;

  /** @param limit Events to keep. */
  constructor(pool: Pool, limit: number) {
    this.#pool = pool;
    this.#limit = limit;
  }

  /** Makes the tables where they are missing. */
  async migrate(): Promise<void> {
    await this.#pool.query(`
      CREATE TABLE IF NOT EXISTS mcp_log (id boolean PRIMARY KEY DEFAULT true, epoch text NOT NULL);
      CREATE TABLE IF NOT EXISTS mcp_events (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        stream text NOT NULL,
        message text NOT NULL
      );
      CREATE INDEX IF NOT EXISTS mcp_events_by_stream ON mcp_events (stream, position);
    `);
    await this.#pool.query('INSERT INTO mcp_log (epoch) VALUES ($1) ON CONFLICT DO NOTHING', [
      randomUUID(),
    ]);
  }

  async epoch(): Promise<string> {
    const [row] = await this.#rows('SELECT epoch FROM mcp_log');
    return row?.['epoch'] ?? '';
  }

  async storeEvent(stream: string, message: object): Promise<string> {
    const [row] = await this.#rows(
      'INSERT INTO mcp_events (stream, message) VALUES ($1, $2) RETURNING position::text',
      stream,
      JSON.stringify(message),
    );
    const position = row?.['position'] ?? '';
    await this.#rows(
      'DELETE FROM mcp_events WHERE position <= $1::bigint - $2',
      position,
      this.#limit,
    );
    return position;
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    if (!isPosition(eventId)) return undefined;
    const [row] = await this.#rows('SELECT stream FROM mcp_events WHERE position = $1', eventId);
    return row?.['stream'];
  }

  async replayEventsAfter(eventId: string, { send }: ReplayOptions): Promise<string> {
    const stream = (await this.getStreamIdForEventId(eventId)) ?? '';
    const after = await this.#rows(
      `SELECT position::text, message FROM mcp_events
       WHERE stream = $1 AND position > $2 ORDER BY mcp_events.position`,
      stream,
      eventId,
    );
    for (const { position = '', message = '{}' } of after) {
      await send(position, JSON.parse(message));
    }
    return stream;
  }

  async find(eventId: string): Promise<FoundCursor> {
    const stream = await this.getStreamIdForEventId(eventId);
    if (stream === undefined) {
      return { kind: (await this.#wasIssued(eventId)) ? 'evicted' : 'unknown' };
    }
    const [row] = await this.#rows(
      `SELECT (min(position) FILTER (WHERE position > $1 AND message <> '{}'))::text AS next,
              max(position)::text AS newest FROM mcp_events WHERE stream = $2`,
      eventId,
      stream,
    );
    return { kind: 'kept', next: row?.['next'] ?? undefined, newest: row?.['newest'] };
  }

  async #wasIssued(eventId: string): Promise<boolean> {
    if (!isPosition(eventId)) return false;
    const [row] = await this.#rows(
      'SELECT position::text FROM mcp_events WHERE position >= $1 LIMIT 1',
      eventId,
    );
    return row !== undefined;
  }

  async #rows(sql: string, ...values: unknown[]): Promise<Record<string, string | undefined>[]> {
    return (await this.#pool.query(sql, values)).rows;
  }
}

function isPosition(eventId: string): boolean {
  return /^[1-9]\d{0,18}$/.test(eventId) && BigInt(eventId) < 2n ** 63n;
}
