import { readContinuity } from '@sameriver/core';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../examples/memory-event-store.ts';
import { listenAgain, OTHER_SERVERS, readOne } from '../../test/other-servers.ts';
import { stampAnswers, withContinuity } from './index.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe.each(OTHER_SERVERS)('stampAnswers before %s', (_, start) => {
  it('lets its event store vouch for what it replays', async () => {
    const eventStore = withContinuity(new MemoryEventStore(50), { epoch: 'in-memory' });
    closing.push(stampAnswers(eventStore, { path: '/mcp' }));
    const server = await start(eventStore);
    closing.push(() => server.stop());
    const { session, cursor } = await readOne(server);
    const resumed = await listenAgain(server.url, session, cursor);
    await resumed.close();
    const field = resumed.headers.get('stream-continuity') ?? undefined;
    expect(Object.fromEntries(readContinuity(field, cursor) ?? [])).toMatchObject({
      status: 'resumed',
      from: cursor,
    });
  });
});
