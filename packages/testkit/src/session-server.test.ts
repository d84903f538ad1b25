import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { SessionServer, SessionServerOptions } from './session-server.ts';
import { startSessionServer } from './session-server.ts';

let server: SessionServer;

afterEach(() => server.close());

/** Ten events are read over SSE; the reader leaves, and three more happen. */
async function readTenAndLeave(onUpgrade: SessionServerOptions['onUpgrade']): Promise<string> {
  server = await startSessionServer({ onUpgrade });
  const leave = new AbortController();
  const response = await fetch(`${server.origin}/session/a/events`, { signal: leave.signal });
  server.emit('a', 10);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.includes('id: 10\n')) break;
  }
  leave.abort();
  await server.untilReleased('a');
  server.emit('a', 3);
  return text;
}

function announce(cursor: number): Promise<Response> {
  const headers = { 'last-event-id': String(cursor) };
  return fetch(`${server.origin}/session/a/upgrade`, { method: 'POST', headers });
}

function open(query = ''): WebSocket {
  return new WebSocket(`${server.origin.replace('http', 'ws')}/session/a/ws${query}`);
}

/** Ids of the frames up to the one with id 14, which is made once the WebSocket is attached. */
async function idsUpTo14(socket: WebSocket): Promise<number[]> {
  const ids: number[] = [];
  const complete = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const { id } = JSON.parse(String(data)) as { id: number };
      ids.push(id);
      if (id === 14) resolve();
    });
  });
  await server.untilAttached('a');
  server.emit('a', 1);
  await complete;
  return ids;
}

async function refusalOf(socket: WebSocket): Promise<number | undefined> {
  const [request, response] = await once(socket, 'unexpected-response');
  request.destroy();
  return response.statusCode;
}

describe('the reference server of sessions that move to a WebSocket', () => {
  it('M2: sends what the ring holds after the cursor as the first frames', async () => {
    expect(await readTenAndLeave('replay')).toMatch(/^id: 1\ndata: \{"key":"r1"\}\n\n/);
    expect(await idsUpTo14(open('?last_event_id=10'))).toEqual([11, 12, 13, 14]);
  });

  it('M2: takes the cursor from the POST that announces the move', async () => {
    await readTenAndLeave('replay');
    expect((await announce(12)).status).toBe(202);
    expect(await idsUpTo14(open())).toEqual([13, 14]);
  });

  it('M2: refuses with 409 what its ring cannot cover, by either request', async () => {
    await readTenAndLeave('refuse');
    expect((await announce(10)).status).toBe(409);
    expect(await refusalOf(open('?last_event_id=10'))).toBe(409);
    expect(await idsUpTo14(open('?last_event_id=11'))).toEqual([12, 13, 14]);
  });

  it('M4: loses 11, 12 and 13 without a sound when it is told to', async () => {
    await readTenAndLeave('lose');
    expect((await announce(10)).status).toBe(202);
    expect(await idsUpTo14(open('?last_event_id=10'))).toEqual([14]);
  });

  it('answers 404 to what is no part of a session', async () => {
    server = await startSessionServer({ onUpgrade: 'replay' });
    expect((await fetch(`${server.origin}/session/a`)).status).toBe(404);
    const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/session/a/events`);
    expect(await refusalOf(socket)).toBe(404);
  });
});
