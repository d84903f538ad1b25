import { readContinuity } from '@sameriver/core';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../examples/memory-event-store.ts';
import { listenAgain, OTHER_SERVERS } from '../../test/other-servers.ts';
import { initialize, lastId, listen } from '../../test/raw-client.ts';
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
    const session = await initialize(server.url);
    const first = await listen(server.url, session);
    await server.tell();
    const cursor = lastId(await first.until('data: {'));
    await first.close();
    const resumed = await listenAgain(server.url, session, cursor);
    await resumed.close();
    const field = resumed.headers.get('stream-continuity') ?? undefined;
    expect(Object.fromEntries(readContinuity(field, cursor) ?? [])).toMatchObject({
      status: 'resumed',
      from: cursor,
    });
  });
});
