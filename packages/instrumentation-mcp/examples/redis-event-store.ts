import { randomUUID } from 'node:crypto';
import type {
  EventStore,
  FoundCursor,
  ReplayOptions,
} from '@sameriver/instrumentation-mcp/continuity';

interface Entry {
  readonly id: string;
  readonly message: Record<string, string>;
}

/** What is used of a client of the package `redis`. */
interface RedisStreams {
  set(key: string, value: string, options: { condition: 'NX' }): Promise<unknown>;
  get(key: string): Promise<string | null>;
  exists(key: string): Promise<number>;
  xAdd(
    key: string,
    id: '*',
    fields: Record<string, string>,
    options: { TRIM: { strategy: 'MAXLEN'; threshold: number } },
  ): Promise<string | null>;
  xRange(
    key: string,
    from: string,
    to: string,
    options?: { COUNT: number },
  ): Promise<Entry[] | null>;
  xRevRange(
    key: string,
    from: string,
    to: string,
    options: { COUNT: number },
  ): Promise<Entry[] | null>;
}

/**
 * An event log in Redis, for several instances: one Redis stream for each stream of MCP. The epoch is
 * a key beside them, written by whoever comes first and lost with them. An instance that comes back
 * from an older copy keeps its epoch and has a shorter log: a cursor above its end is then unknown.
 *
 * ```js
 * withContinuity(store, { epoch: () => store.epoch(), find: (id) => store.find(id) });
 * ```
 */
export class RedisEventStore implements EventStore {
  readonly #redis: RedisStreams;
  readonly #prefix: string;
  readonly #limit: number;

  /**
   * @param redis A connected client.
   * @param prefix Of the keys; with braces all of them lie on one node of a cluster: `{mcp}`.
   * @param limit Events to keep of each stream.
   */
  constructor(redis: RedisStreams, prefix: string, limit: number) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#limit = limit;
  }

  async epoch(): Promise<string> {
    const key = `${this.#prefix}:epoch`;
    await this.#redis.set(key, randomUUID(), { condition: 'NX' });
    return (await this.#redis.get(key)) ?? '';
  }

  async storeEvent(stream: string, message: object): Promise<string> {
    const fields = { message: JSON.stringify(message) };
    const TRIM = { strategy: 'MAXLEN', threshold: this.#limit } as const;
    const position = await this.#redis.xAdd(this.#key(stream), '*', fields, { TRIM });
    return `${stream}|${position}`;
  }

  /** The stream of what is gone is still in its id, so that the header can say what became of it. */
  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    const { stream } = parse(eventId) ?? {};
    if (stream === undefined) return undefined;
    return (await this.#redis.exists(this.#key(stream))) === 0 ? undefined : stream;
  }

  async replayEventsAfter(eventId: string, { send }: ReplayOptions): Promise<string> {
    const cursor = parse(eventId);
    if (cursor === undefined) return '';
    const { stream, position } = cursor;
    const after = await this.#redis.xRange(this.#key(stream), `(${position}`, '+');
    for (const { id, message } of after ?? []) {
      await send(`${stream}|${id}`, JSON.parse(message['message'] ?? '{}'));
    }
    return stream;
  }

  async find(eventId: string): Promise<FoundCursor> {
    const cursor = parse(eventId);
    if (cursor === undefined) return { kind: 'unknown' };
    const { stream, position } = cursor;
    const key = this.#key(stream);
    const oldest = (await this.#redis.xRange(key, '-', '+', { COUNT: 1 }))?.[0];
    const newest = (await this.#redis.xRevRange(key, '+', '-', { COUNT: 1 }))?.[0];
    if (oldest === undefined || newest === undefined) return { kind: 'unknown' };
    const held = await this.#redis.xRange(key, position, position);
    if (!held?.length) {
      const isEvicted = isBelow(position, oldest.id);
      return isEvicted
        ? { kind: 'evicted', oldest: `${stream}|${oldest.id}` }
        : { kind: 'unknown' };
    }
    const after = await this.#redis.xRange(key, `(${position}`, '+', { COUNT: 16 });
    const next = after?.find(({ message }) => message['message'] !== '{}');
    return {
      kind: 'kept',
      next: next && `${stream}|${next.id}`,
      newest: `${stream}|${newest.id}`,
    };
  }

  #key(stream: string): string {
    return `${this.#prefix}:events:${stream}`;
  }
}

function parse(eventId: string): { stream: string; position: string } | undefined {
  const match = /^(.+)\|(\d+-\d+)$/s.exec(eventId);
  return match === null ? undefined : { stream: match[1] ?? '', position: match[2] ?? '' };
}

/** Positions of Redis: milliseconds, and a number within them. */
function isBelow(position: string, other: string): boolean {
  const [time = 0n, count = 0n] = position.split('-').map(BigInt);
  const [otherTime = 0n, otherCount = 0n] = other.split('-').map(BigInt);
  return time === otherTime ? count < otherCount : time < otherTime;
}
