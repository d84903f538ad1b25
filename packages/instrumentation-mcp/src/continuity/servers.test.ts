import { Server } from '@modelcontextprotocol/server';
import { readContinuity } from '@sameriver/core';
import { freePort } from '@sameriver/testkit';
import { FastMCP } from 'fastmcp';
import { startHTTPServer } from 'mcp-proxy';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../examples/memory-event-store.ts';
import { initialize, lastId, listen } from '../../test/raw-client.ts';
import type { EventStore } from './index.ts';
import { stampAnswers, withContinuity } from './index.ts';

interface Running {
  readonly url: string;
  /** Tells every session something. */
  tell(): Promise<unknown>;
  stop(): Promise<unknown>;
}

type Start = (eventStore: EventStore) => Promise<Running>;

const byFastMcp: Start = async (eventStore) => {
  const port = await freePort();
  const server = new FastMCP({ name: 's', version: '1.0.0', ping: { enabled: false } });
  // It can tell of tools only if it had one when the session began.
  server.addTool({ name: 't0', description: '', execute: async () => 'x' });
  const httpStream = { port, host: '127.0.0.1', eventStore: eventStore as never };
  await server.start({ transportType: 'httpStream', httpStream });
  let tools = 0;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    tell: async () => {
      tools += 1;
      server.addTool({ name: `t${tools}`, description: '', execute: async () => 'x' });
    },
    stop: () => server.stop(),
  };
};

const byMcpProxy: Start = async (eventStore) => {
  const port = await freePort();
  const servers: Server[] = [];
  const running = await startHTTPServer({
    port,
    host: '127.0.0.1',
    eventStore: eventStore as never,
    createServer: async () => {
      const capabilities = { capabilities: { logging: {} } };
      const server = new Server({ name: 's', version: '1' }, capabilities);
      servers.push(server);
      return server as never;
    },
  });
  const params = { level: 'info', data: 'x' } as const;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    tell: () =>
      Promise.all(
        servers.map((server) => server.notification({ method: 'notifications/message', params })),
      ),
    stop: () => running.close(),
  };
};

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe.each([
  ['fastmcp', byFastMcp],
  ['mcp-proxy', byMcpProxy],
])('stampAnswers before %s', (_, start) => {
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
    // Its end has to reach the server, which refuses a second stream until then.
    let resumed = await listen(server.url, session, cursor);
    while (resumed.status === 409) resumed = await listen(server.url, session, cursor);
    await resumed.close();
    const field = resumed.headers.get('stream-continuity') ?? undefined;
    expect(Object.fromEntries(readContinuity(field, cursor) ?? [])).toMatchObject({
      status: 'resumed',
      from: cursor,
    });
  });
});
