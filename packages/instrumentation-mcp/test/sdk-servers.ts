import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { EventStore } from '../src/continuity/event-store.ts';

/** A transport and the server behind it, whichever SDK they are of. */
interface Session {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  notify(text: string): Promise<void>;
  close(): Promise<void>;
}

interface SessionOptions {
  readonly eventStore: EventStore;
  readonly sessionId: string;
  readonly retryInterval: number | undefined;
}

type OpenSession = (options: SessionOptions) => Promise<Session>;

const CAPABILITIES = { capabilities: { logging: {} } };
const INFO = { name: 'example', version: '1.0.0' };

type Sdk1 = typeof import('@modelcontextprotocol/sdk/server/mcp.js') &
  typeof import('@modelcontextprotocol/sdk/server/streamableHttp.js');

function sdk1(load: () => Promise<Sdk1>): OpenSession {
  return async ({ eventStore, sessionId, retryInterval }) => {
    const { McpServer, StreamableHTTPServerTransport } = await load();
    const server = new McpServer(INFO, CAPABILITIES);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => sessionId,
      eventStore,
      ...(retryInterval !== undefined && { retryInterval }),
    });
    server.registerTool('count', {}, async (extra) => {
      await extra.sendNotification({
        method: 'notifications/message',
        params: { level: 'info', data: 'counting' },
      });
      extra.closeSSEStream?.();
      return { content: [{ type: 'text', text: 'counted' }] };
    });
    await server.connect(transport as never);
    return {
      handle: (request, response) => transport.handleRequest(request, response),
      notify: (data) => server.server.sendLoggingMessage({ level: 'info', data }, sessionId),
      close: () => server.close(),
    };
  };
}

const sdk2: OpenSession = async ({ eventStore, sessionId, retryInterval }) => {
  const { McpServer } = await import('@modelcontextprotocol/server');
  const { NodeStreamableHTTPServerTransport } = await import('@modelcontextprotocol/node');
  const server = new McpServer(INFO, CAPABILITIES);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => sessionId,
    eventStore,
    ...(retryInterval !== undefined && { retryInterval }),
  });
  server.registerTool('count', {}, async (context) => {
    const params = { level: 'info', data: 'counting' } as const;
    await context.mcpReq.notify({ method: 'notifications/message', params });
    context.http?.closeSSE?.();
    return { content: [{ type: 'text', text: 'counted' }] };
  });
  await server.connect(transport);
  return {
    handle: (request, response) => transport.handleRequest(request, response),
    notify: (data) => {
      return server.server.notification({
        method: 'notifications/message',
        params: { level: 'info', data },
      });
    },
    close: () => server.close(),
  };
};

const require = createRequire(import.meta.url);

export const SDKS: Readonly<Record<string, OpenSession>> = {
  'SDK 1.x, ESM': sdk1(async () => ({
    ...(await import('@modelcontextprotocol/sdk/server/mcp.js')),
    ...(await import('@modelcontextprotocol/sdk/server/streamableHttp.js')),
  })),
  'SDK 1.x, CommonJS': sdk1(async () => ({
    ...require('@modelcontextprotocol/sdk/server/mcp.js'),
    ...require('@modelcontextprotocol/sdk/server/streamableHttp.js'),
  })),
  'SDK 2.x': sdk2,
};

export interface SdkServer {
  readonly url: string;
  readonly sessionId: string;
  notify(text: string): Promise<void>;
  /** Resolves once the SDK knows that everybody who was answered has gone. */
  left(): Promise<void>;
  close(): Promise<void>;
}

export interface SdkServerOptions {
  readonly eventStore: EventStore;
  /** Called where the application handles a request, before the SDK does. */
  readonly before?: (response: ServerResponse) => void;
  readonly retryInterval?: number;
}

/** A server of one session on the loopback interface. */
export async function startSdkServer(
  openSession: OpenSession,
  { eventStore, before, retryInterval }: SdkServerOptions,
): Promise<SdkServer> {
  const sessionId = randomUUID();
  const session = await openSession({ eventStore, sessionId, retryInterval });
  const open = new Set<Promise<unknown>>();
  const server = createServer((request, response) => {
    open.add(once(response, 'close'));
    before?.(response);
    void session.handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    sessionId,
    notify: (text) => session.notify(text),
    left: async () => {
      await Promise.all(open);
      await new Promise((resolve) => setImmediate(resolve));
    },
    close: async () => {
      await session.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
