import { Server } from '@modelcontextprotocol/server';
import { freePort } from '@sameriver/testkit';
import { FastMCP } from 'fastmcp';
import { startHTTPServer } from 'mcp-proxy';
import type { EventStore } from '../src/continuity/event-store.ts';
import type { RawAnswer } from './raw-client.ts';
import { initialize, lastId, listen } from './raw-client.ts';

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

/** Servers that bring an SDK with them, and whose handler is not the application's own. */
export const OTHER_SERVERS: readonly (readonly [name: string, start: Start])[] = [
  ['fastmcp', byFastMcp],
  ['mcp-proxy', byMcpProxy],
];

/** A reader that gets one event of a session of its own, and goes. */
export async function readOne({
  url,
  tell,
}: Running): Promise<{ readonly session: string; readonly cursor: string }> {
  const session = await initialize(url);
  const first = await listen(url, session);
  await tell();
  const cursor = lastId(await first.until('data: {'));
  await first.close();
  return { session, cursor };
}

/** The end of the stream before has to reach the server, which refuses a second one until then. */
export async function listenAgain(
  url: string,
  session: string,
  cursor: string,
): Promise<RawAnswer> {
  let answer = await listen(url, session, cursor);
  while (answer.status === 409) answer = await listen(url, session, cursor);
  return answer;
}
