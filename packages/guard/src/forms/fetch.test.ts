import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Loopback } from '@sameriver/testkit';
import { loopback } from '@sameriver/testkit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createGuard } from '../guard.ts';
import { jsonKey } from '../keys.ts';
import { memoryLedger } from '../ledger/memory.ts';
import type { GuardOptions } from '../types.ts';
import type { StreamResumptionViolation } from '../violation.ts';

/** A message that the server reports on the standalone stream. */
interface Note {
  readonly id: number | undefined;
  readonly text: string;
  readonly key?: string;
}

/** An MCP server of which only the standalone stream matters: each GET gets the next script. */
interface Script {
  readonly notes: readonly Note[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly ends: 'cut' | 'eof' | 'open';
}

let server: Loopback;
const ending: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  for (const end of ending.splice(0)) await end();
  await server.close();
});

async function mcpServer(
  scripts: readonly Script[],
): Promise<{ url: URL; cursors: Array<string | undefined> }> {
  const cursors: Array<string | undefined> = [];
  server = await loopback((request, response) => {
    if (request.method === 'POST') void answerPost(request, response);
    else if (request.method === 'GET') {
      cursors.push(request.headers['last-event-id'] as string | undefined);
      play(scripts[Math.min(cursors.length, scripts.length) - 1], response);
    } else response.writeHead(405).end();
  });
  return { url: new URL(`${server.origin}/mcp`), cursors };
}

async function answerPost(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { id, method } = JSON.parse(body);
  if (method !== 'initialize') {
    response.writeHead(202).end();
    return;
  }
  const result = {
    protocolVersion: '2025-11-25',
    capabilities: { logging: {} },
    serverInfo: { name: 'x', version: '1' },
  };
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

function play(script: Script | undefined, response: ServerResponse): void {
  if (script === undefined) {
    response.writeHead(405).end();
    return;
  }
  const { notes, headers = {}, ends } = script;
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'mcp-session-id': 's1',
    ...headers,
  });
  response.flushHeaders();
  response.write(notes.map(frameOf).join(''), () => {
    // What was written is to arrive before the break does.
    if (ends === 'cut') setTimeout(() => response.destroy(), 40);
    if (ends === 'eof') response.end();
  });
}

function frameOf({ id, text, key }: Note): string {
  const params = { level: 'info', data: text, ...(key && { _meta: { idempotencyKey: key } }) };
  const message = { jsonrpc: '2.0', method: 'notifications/message', params };
  return `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}

const QUICK = {
  initialReconnectionDelay: 5,
  maxReconnectionDelay: 5,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 2,
};

/** A client on one of the SDKs that has connected, and what it was given. */
async function listen(
  sdk: 1 | 2,
  url: URL,
  fetch: typeof globalThis.fetch,
): Promise<{ heard: string[]; errors: string[] }> {
  const heard: string[] = [];
  const errors: string[] = [];
  const about = { name: 'c', version: '1' };
  const options = { fetch, reconnectionOptions: QUICK };
  if (sdk === 1) {
    const client = new ClientV1(about);
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void heard.push(String(params.data)),
    );
    client.onerror = ({ message }) => errors.push(message);
    ending.push(() => client.close());
    await client.connect(new TransportV1(url, options));
  } else {
    const client = new ClientV2(about);
    client.setNotificationHandler(
      'notifications/message',
      ({ params }) => void heard.push(String(params.data)),
    );
    client.onerror = ({ message }) => errors.push(message);
    ending.push(() => client.close());
    await client.connect(new TransportV2(url, options));
  }
  return { heard, errors };
}

function guardWith(options: Partial<GuardOptions> = {}): ReturnType<typeof createGuard> {
  const guard = createGuard({
    ledger: memoryLedger(),
    key: jsonKey('/params/_meta/idempotencyKey'),
    decisionTimeout: 2_000,
    ...options,
  });
  ending.push(() => guard.close());
  return guard;
}

const BEFORE: Script = {
  notes: [
    { id: 4117, text: 'a' },
    { id: 4118, text: 'b' },
  ],
  ends: 'cut',
};
const STAMPED: Script = { ...BEFORE, headers: { 'stream-continuity': 'gen="g1"' } };
const OTHER_EPOCH: Script = {
  notes: [
    { id: 13, text: 'NEW-13' },
    { id: 14, text: 'NEW-14', key: 'k14' },
  ],
  ends: 'open',
};

describe.each([1, 2] as const)('The real MCP SDK %i.x', (sdk) => {
  test('Without a guard it applies the other epoch', async () => {
    const { url } = await mcpServer([BEFORE, OTHER_EPOCH]);
    const { heard } = await listen(sdk, url, globalThis.fetch);
    await vi.waitFor(() => expect(heard).toEqual(['a', 'b', 'NEW-13', 'NEW-14']));
  });

  test('A body that is errored to stop the stream makes it come back without its cursor and apply the other epoch', async () => {
    const { url, cursors } = await mcpServer([BEFORE, OTHER_EPOCH]);
    const erring: typeof globalThis.fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!new Headers(init?.headers).has('last-event-id')) return response;
      const body = new ReadableStream({
        pull: (controller) => controller.error(new Error('stop')),
      });
      await response.body?.cancel();
      return new Response(body, response);
    };
    const { heard } = await listen(sdk, url, erring);
    await vi.waitFor(() => expect(heard).toContain('NEW-13'));
    expect(cursors).toEqual([undefined, '4118', undefined]);
  });

  test('gate: the other epoch is answered with 409, the client keeps its cursor and gives up in the end', async () => {
    const { url, cursors } = await mcpServer([BEFORE, OTHER_EPOCH]);
    const violations: StreamResumptionViolation[] = [];
    const guard = guardWith();
    const fetch = guard.fetch({ onViolation: (violation) => violations.push(violation) });
    const { heard, errors } = await listen(sdk, url, fetch);
    await vi.waitFor(() => expect(errors.join()).toContain('Maximum reconnection attempts'));
    expect(heard).toEqual(['a', 'b']);
    expect(cursors).toEqual([undefined, '4118', '4118']);
    expect(violations).toHaveLength(2);
    expect(violations[0]).toMatchObject({ verdictReason: 'cursor_not_advanced' });
    expect(guard.bill).toMatchObject({ applied: 2, violations: 2, reoriginations: 2 });
  });

  test('gate: a client that forgets its cursor is measured by what it was given', async () => {
    const { url, cursors } = await mcpServer([
      STAMPED,
      { notes: [], ends: 'eof', headers: RESUMED },
      OTHER_EPOCH,
    ]);
    const { heard, errors } = await listen(sdk, url, guardWith().fetch());
    await vi.waitFor(() => expect(errors.join()).toContain('Maximum reconnection attempts'));
    expect(cursors[2]).toBeUndefined();
    expect(heard).toEqual(['a', 'b']);
  });

  test('gate: a stream that proves to go on is read as if there were no guard', async () => {
    const goesOn = { notes: [{ id: 4119, text: 'c' }], ends: 'open', headers: RESUMED } as const;
    const { url } = await mcpServer([STAMPED, goesOn]);
    const guard = guardWith();
    const { heard } = await listen(sdk, url, guard.fetch());
    await vi.waitFor(() => expect(heard).toEqual(['a', 'b', 'c']));
    expect(guard.bill.violations).toBe(0);
  });

  test('filter: of the other epoch messages with a key pass once, those without are dropped and told', async () => {
    const again: Script = {
      notes: [
        { id: 3, text: 'NEW-14 again', key: 'k14' },
        { id: 4, text: 'NEW-4', key: 'k4' },
      ],
      ends: 'open',
    };
    const { url } = await mcpServer([BEFORE, { ...OTHER_EPOCH, ends: 'cut' }, again]);
    const dropped: Array<string | undefined> = [];
    const guard = guardWith();
    const fetch = guard.fetch({
      mode: 'filter',
      onViolation: ({ eventId }) => dropped.push(eventId),
    });
    const { heard } = await listen(sdk, url, fetch);
    await vi.waitFor(() => expect(heard).toEqual(['a', 'b', 'NEW-14', 'NEW-4']));
    expect(dropped).toEqual(['13']);
    expect(guard.bill).toMatchObject({ reconciled: 3, skipped: 1 });
  });

  test('unverifiable: the stock wire proves nothing, so a reconnect that looks right is refused too', async () => {
    const looksRight: Script = { notes: [{ id: 4119, text: 'c' }], ends: 'open' };
    const { url } = await mcpServer([BEFORE, looksRight]);
    const { heard, errors } = await listen(sdk, url, guardWith().fetch());
    await vi.waitFor(() => expect(errors.join()).toContain('Maximum reconnection attempts'));
    expect(heard).toEqual(['a', 'b']);
  });
});

const RESUMED = { 'stream-continuity': 'gen="g1", received="4118", from="4118", status=resumed' };

test('A ledger that fails ends the body without an error, and onError hears why', async () => {
  const { url } = await mcpServer([{ notes: [{ id: 1, text: 'a', key: 'k' }], ends: 'open' }]);
  const ledger = memoryLedger();
  ledger.reserve = () => Promise.reject(new Error('disk full'));
  const onError = vi.fn();
  const fetch = guardWith({ ledger }).fetch({ onError });
  const response = await fetch(url);
  expect(await response.text()).toBe('');
  expect(onError).toHaveBeenCalledExactlyOnceWith(new Error('disk full'));
});

test('What is no event stream passes untouched, and what is one keeps its url, status and headers', async () => {
  const { url } = await mcpServer([
    { notes: [{ id: 1, text: 'a' }], ends: 'eof', headers: { 'x-own': '1' } },
  ]);
  const fetch = guardWith().fetch();
  const post = await fetch(url, { method: 'POST', body: '{"method":"x"}' });
  expect([post.status, post.url]).toEqual([202, String(url)]);
  const stream = await fetch(url);
  expect([stream.status, stream.url, stream.headers.get('x-own')]).toEqual([200, String(url), '1']);
  expect(await stream.text()).toBe(frameOf({ id: 1, text: 'a' }).replace('event: message\n', ''));
});

test('The priming event and its reconnection time pass with a stream that goes on', async () => {
  server = await loopback((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('id: p1\nretry: 500\ndata: \n\nid: 2\ndata: x\n\n');
  });
  const response = await guardWith().fetch()(`${server.origin}/mcp`);
  expect(await response.text()).toBe('id: p1\nretry: 500\ndata: \n\nid: 2\ndata: x\n\n');
});
