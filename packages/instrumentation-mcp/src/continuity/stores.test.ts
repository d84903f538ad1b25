import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresServer, redisServer } from '@sameriver/testkit';
import pg from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../examples/memory-event-store.ts';
import { PostgresEventStore } from '../../examples/postgres-event-store.ts';
import { RedisEventStore } from '../../examples/redis-event-store.ts';
import { SqliteEventStore } from '../../examples/sqlite-event-store.ts';
import type { ContinuityEventStore, EventStore, FoundCursor } from './index.ts';
import { withContinuity } from './index.ts';

/** What the pages about evidence show: a log, its epoch beside it, and where a cursor stands. */
interface ExampleStore extends EventStore {
  find(eventId: string): FoundCursor | Promise<FoundCursor>;
  epoch?(): string | Promise<string>;
}

interface Kept {
  /** Opens the log, as an instance does when it starts. */
  open(): Promise<ExampleStore>;
  /** Loses it. */
  lose(): Promise<void>;
  stop(): Promise<void>;
}

const LIMIT = 4;

async function sqlite(): Promise<Kept> {
  const dir = mkdtempSync(join(tmpdir(), 'sameriver-store-'));
  const open: SqliteEventStore[] = [];
  const close = (): void => {
    for (const store of open.splice(0)) store.close();
    rmSync(dir, { recursive: true, force: true });
  };
  let losses = 0;
  return {
    open: async () => {
      const store = new SqliteEventStore(join(dir, `log-${losses}.db`), LIMIT);
      open.push(store);
      return store;
    },
    lose: async () => {
      losses += 1;
    },
    stop: async () => close(),
  };
}

async function redis(): Promise<Kept> {
  const server = await redisServer();
  const client = createClient({ url: server.url });
  await client.connect();
  return {
    open: async () => new RedisEventStore(client, '{mcp}', LIMIT),
    lose: async () => {
      await client.flushAll();
    },
    stop: async () => {
      client.destroy();
      await server.close();
    },
  };
}

async function postgres(): Promise<Kept> {
  const server = await postgresServer();
  const pool = new pg.Pool({ connectionString: server.url });
  return {
    open: async () => {
      const store = new PostgresEventStore(pool, LIMIT);
      await store.migrate();
      return store;
    },
    lose: async () => {
      await pool.query('DROP TABLE mcp_events, mcp_log');
    },
    stop: async () => {
      await pool.end();
      await server.close();
    },
  };
}

const message = (n: number): object => ({ jsonrpc: '2.0', method: 'm', params: { n } });

async function fill(store: EventStore, stream: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= count; n += 1) ids.push(await store.storeEvent(stream, message(n)));
  return ids;
}

function itFinds(open: () => Promise<ExampleStore>): void {
  it('finds a cursor, the event after it, and the end of its stream', async () => {
    const store = await open();
    const [first = '', second, third] = await fill(store, 'one', 3);
    expect(await store.find(first)).toMatchObject({ kind: 'kept', next: second, newest: third });
  });

  it('passes a priming event by, as a replay does', async () => {
    const store = await open();
    const cursor = await store.storeEvent('primed', message(1));
    await store.storeEvent('primed', {});
    const next = await store.storeEvent('primed', message(2));
    expect(await store.find(cursor)).toMatchObject({ kind: 'kept', next });
  });

  it('finds nothing after the end of a stream, whatever was stored on others', async () => {
    const store = await open();
    const cursor = await store.storeEvent('quiet', message(1));
    await store.storeEvent('busy', message(1));
    const found = await store.find(cursor);
    expect(found).toMatchObject({ kind: 'kept', newest: cursor });
    expect(found).not.toHaveProperty('next', expect.anything());
  });

  it.each(['', '0', '4118', '99999999999999999999', "' OR 1=1 --", 'no|1-x'])(
    'knows no event %j',
    async (id) => {
      const store = await open();
      await fill(store, 'one', 1);
      if (/^\d+$/.test(id) && (await store.getStreamIdForEventId?.(id))) return;
      expect((await store.find(id)).kind).toBe('unknown');
    },
  );
}

describe('the example store in memory', () => {
  itFinds(async () => new MemoryEventStore(LIMIT));

  it('says that an event is gone which it once had', async () => {
    const store = new MemoryEventStore(LIMIT);
    const [first = ''] = await fill(store, 'one', LIMIT + 3);
    expect(store.find(first).kind).toBe('evicted');
    expect(store.getReplayWindow()).toEqual({ usage: LIMIT, limit: LIMIT });
  });
});

describe.each([
  ['SQLite', sqlite],
  ['Redis', redis],
  ['PostgreSQL', postgres],
])('the example store in %s', (_, start) => {
  let kept: Kept;
  beforeAll(async () => {
    kept = await start();
  }, 400_000);
  afterAll(() => kept?.stop());

  const wrapped = async (): Promise<ContinuityEventStore<object>> => {
    const store = await kept.open();
    return withContinuity(store, {
      epoch: () => store.epoch?.() ?? '',
      find: (id) => store.find(id),
    });
  };

  itFinds(() => kept.open());

  it('says that an event is gone which it once had', async () => {
    const store = await kept.open();
    const [first = ''] = await fill(store, 'many', 400);
    expect((await store.find(first)).kind).toBe('evicted');
  });

  it('keeps the epoch with the log: another instance reads the same, a new log has another', async () => {
    const before = await (await kept.open()).epoch?.();
    expect(await (await kept.open()).epoch?.()).toBe(before);
    await kept.lose();
    const after = await (await kept.open()).epoch?.();
    expect(after).toMatch(/^[0-9a-f-]{36}$/);
    expect(after).not.toBe(before);
  });

  it('lets another instance vouch for what this one has stored', async () => {
    const [here, there] = [await wrapped(), await wrapped()];
    const [cursor = '', next] = await fill(here, 'shared', 3);
    const read = there.answering(cursor);
    const sent: string[] = [];
    await there.replayEventsAfter(cursor, { send: async (id) => void sent.push(id) });
    expect(sent[0]).toBe(next);
    expect(read()).toMatchObject({ status: 'resumed', from: cursor, next });
    expect(read().epoch).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('does not know the cursor of a log that was lost', async () => {
    const [cursor = ''] = await fill(await wrapped(), 'lost', 3);
    await kept.lose();
    const store = await wrapped();
    const read = store.answering(cursor);
    await store.replayEventsAfter(cursor, { send: async () => {} });
    expect(read()).toMatchObject({ status: 'reset', received: cursor, reason: 'unknown-id' });
  });
});
