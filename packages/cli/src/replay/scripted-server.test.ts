import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { HandshakeArrival } from './handshake-arrival.ts';
import type { ScriptedServer } from './scripted-server.ts';
import { startScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.close());

const HANDSHAKE = [
  'GET /feed?since=4 HTTP/1.1',
  'Host: any',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Version: 13',
];

function connectRaw(): Socket {
  const socket = connect(Number(new URL(server.origin).port), '127.0.0.1');
  socket.write(`${HANDSHAKE.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** What the server writes, byte for byte, to a client that asks by this text and then waits. */
async function written(answer: (arrival: HandshakeArrival) => void): Promise<string> {
  const socket = connectRaw();
  const arrival = await server.nextHandshake();
  expect(arrival).toMatchObject({ method: 'GET', target: '/feed?since=4' });
  answer(arrival);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

describe('a handshake that is refused gets exactly this answer', () => {
  test.each([
    [
      'with a body',
      { status: 409, headers: { 'x-oldest': 'é14' }, body: '{"oldest":14}' },
      'HTTP/1.1 409 Conflict\r\nx-oldest: é14\r\ncontent-length: 13\r\nconnection: close\r\n\r\n' +
        '{"oldest":14}',
    ],
    [
      'without one',
      { status: 204, headers: {}, body: undefined },
      'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n',
    ],
    [
      'of a status without a name',
      { status: 499, headers: {}, body: undefined },
      'HTTP/1.1 499 Unnamed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
    ],
  ])('%s', async (_title, answer, text) => {
    expect(await written((arrival) => arrival.refuse(answer))).toBe(text);
  });
});

test('a handshake that is accepted is answered with the headers of the transcript', async () => {
  const head = await written((arrival) => {
    arrival.accept({ 'x-log-generation': '7f3a', 'sec-websocket-protocol': 'v1' });
    arrival.hangUp();
  });
  expect(head).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
  expect(head).toMatch(/\r\nx-log-generation: 7f3a\r\nsec-websocket-protocol: v1\r\n\r\n$/);
});

describe('the end of a WebSocket as its client sees it', () => {
  async function ended(
    end: (arrival: HandshakeArrival, close: (code?: number) => void) => void,
  ): Promise<number> {
    const client = new WebSocket(server.origin.replace('http', 'ws'));
    const arrival = await server.nextHandshake();
    const socket = arrival.accept({});
    await once(client, 'open');
    const closed = once(client, 'close');
    end(arrival, (code) => socket.close(code));
    const [code] = await closed;
    return code;
  }

  test('a code, a close frame without one, and none', async () => {
    expect(await ended((_, close) => close(4409))).toBe(4409);
    expect(await ended((_, close) => close())).toBe(1005);
    expect(await ended((arrival) => arrival.hangUp())).toBe(1006);
  });

  test('a reset is RST, which ws itself keeps to itself', async () => {
    const client = connectRaw();
    const arrival = await server.nextHandshake();
    arrival.accept({});
    await once(client, 'data');
    arrival.reset();
    const [error] = await once(client, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
  });
});

test('text and bytes arrive as they are, each as one message, in both directions', async () => {
  const client = new WebSocket(server.origin.replace('http', 'ws'));
  const got: unknown[] = [];
  client.on('message', (data, isBinary) => got.push(isBinary ? data : String(data)));
  const arrival = await server.nextHandshake();
  const socket = arrival.accept({});
  await once(client, 'open');
  await socket.send('{"a":"é\u2028"}');
  await socket.send(Uint8Array.of(0, 255));
  client.send('one');
  client.send('');
  await socket.received(2);
  client.close();
  await once(client, 'close');
  expect(got).toEqual(['{"a":"é\u2028"}', Buffer.from([0, 255])]);
});

test('requests and handshakes are met in their order, also those that were there before', async () => {
  const answers = [fetch(`${server.origin}/a`), fetch(`${server.origin}/b`)];
  const never = Promise.withResolvers<void>();
  const over = Promise.resolve();
  // Whoever gives up waiting takes nothing away from who comes next.
  expect(await server.nextHandshakeBefore(over)).toBeUndefined();
  const client = new WebSocket(`${server.origin.replace('http', 'ws')}/c`);
  const handshake = await server.nextHandshakeBefore(never.promise);
  expect(handshake?.target).toBe('/c');
  handshake?.hangUp();
  await once(client, 'error');
  const arrivals = [await server.nextRequest(), await server.nextRequest()];
  expect(arrivals.map(({ target }) => target)).toEqual(['/a', '/b']);
  for (const arrival of arrivals) {
    arrival.answer({ status: 200, headers: {}, body: undefined });
    arrival.finish();
  }
  await Promise.all(answers);
});
