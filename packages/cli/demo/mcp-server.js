// A server on @modelcontextprotocol/sdk that reports the progress of its tasks. Nothing in it knows of
// Same River: node --import @sameriver/node/register mcp-server.js
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import process from 'node:process';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { keepBusy } from './busy-loop.js';
import { WindowStore } from './window-store.js';

const [name, lastId, window] = process.argv.slice(2);
const sessions = new Map();
let task = 0;

async function open(sessionIdGenerator) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator,
    eventStore: new WindowStore({ last: Number(lastId), window: Number(window) }),
    onsessioninitialized: (id) => sessions.set(id, { transport, server }),
  });
  const server = new McpServer({ name, version: '1.0.0' }, { capabilities: { logging: {} } });
  await server.connect(transport);
  return { transport, server };
}

// "Session rehydration", as deployments behind a balancer write it: a session that another instance
// began is taken over by its id. The log of that other instance does not come with it.
async function adopt(id) {
  const session = await open(() => id);
  const inner = session.transport._webStandardTransport;
  inner.sessionId = id;
  inner._initialized = true;
  sessions.set(id, session);
  return session;
}

const server = createServer(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const known = id === undefined ? await open(randomUUID) : (sessions.get(id) ?? (await adopt(id)));
  await known.transport.handleRequest(request, response);
});

async function report(count) {
  for (let i = 0; i < count; i++) {
    const data = `${name}: task ${++task} done`;
    for (const session of sessions.values()) {
      await session.server.server.sendLoggingMessage({ level: 'info', data });
    }
  }
}

const orders = {
  report: async ({ count }) => {
    await report(count);
    process.send({ kind: 'reported' });
  },
  busy: ({ share }) => keepBusy(share),
};

process.on('message', (order) => orders[order.kind](order));
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  process.send({ kind: 'ready', port: server.address().port });
});
