import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Taps } from '../../test/harness.ts';
import { connect, exchanges, startTaps, untilClosed, WS8 } from '../../test/harness.ts';

const OPEN = '0{"sid":"e1","upgrades":["websocket"]}';

type Answer = (response: ServerResponse) => void;

let taps: Taps;
let origin: string;
/** Answers of the server, the next one first. */
let script: Answer[];
let stopServer: () => Promise<void>;
/** At the server. */
let opened: (() => void)[];

beforeEach(async () => {
  taps = startTaps();
  script = [];
  opened = [];
  const wss = new WebSocketServer({ noServer: true });
  const http = createServer((asked, response) => {
    asked.resume().on('end', () => script.shift()?.(response));
  });
  http.on('upgrade', (asked, socket, head) => {
    wss.handleUpgrade(asked, socket, head, (ws) => {
      for (const tell of opened.splice(0)) tell();
      ws.on('message', (data) => ws.send(`re ${String(data)}`));
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  stopServer = async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
});
afterEach(async () => {
  taps.stop();
  await stopServer();
  expect(taps.client.recorder.errors).toEqual([]);
});

interface Asked {
  readonly carrier: ClientRequest;
  readonly response: IncomingMessage;
  readonly text: string;
}

async function ask(query: string, body?: readonly (string | Buffer)[]): Promise<Asked> {
  const method = body === undefined ? 'GET' : 'POST';
  const carrier = request(`${origin}/socket.io/?${query}`, { method, agent: false });
  for (const part of body ?? []) carrier.write(part);
  carrier.end();
  const [response] = (await once(carrier, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { carrier, response, text: Buffer.concat(chunks).toString('latin1') };
}

/** What the WebSocket of the session is told until it has its first answer. */
async function toldOverWebSocket(sid = 'e1'): Promise<string[]> {
  const target = `/socket.io/?EIO=4&transport=websocket&sid=${sid}`;
  const socket = connect(WS8, `${origin.replace('http', 'ws')}${target}`);
  socket.addEventListener('open', () => socket.send('2probe'));
  await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }));
  const closed = untilClosed(socket);
  socket.close();
  await closed;
  const connection = taps.client.timeline.connections.at(-1);
  return connection === undefined ? [] : exchanges(connection);
}

const OWN = ['sent:2probe', 'received:re 2probe'];
const text =
  (body: string, ...parts: string[]): Answer =>
  (response) => {
    response.write(body);
    response.end(parts.join(''));
  };

test('a WebSocket that goes on from polling is told first what was polled', async () => {
  script.push(text(OPEN), text('ok'), text('42["a"]\u001e', '40{"sid":"s"}'));
  await ask('EIO=4&transport=polling');
  await ask('EIO=4&transport=polling&sid=e1', ['40{"pi', Buffer.from('d":"p"}')]);
  await ask('EIO=4&transport=polling&sid=e1');
  expect(await toldOverWebSocket()).toEqual([
    `received:${OPEN}`,
    'sent:40{"pid":"p"}',
    'received:42["a"]',
    'received:40{"sid":"s"}',
    ...OWN,
  ]);
  expect(await toldOverWebSocket()).toEqual(OWN);
});

test('a poll that is answered once the WebSocket is open is told where it comes', async () => {
  const polls = new Promise<void>((resolve) => {
    script.push(text(OPEN), (response) => {
      opened.push(() => response.end('42["late"]'));
      resolve();
    });
  });
  await ask('EIO=4&transport=polling');
  const waiting = ask('EIO=4&transport=polling&sid=e1');
  await polls;
  const target = '/socket.io/?EIO=4&transport=websocket&sid=e1';
  const socket = connect(WS8, `${origin.replace('http', 'ws')}${target}`);
  await once(socket as unknown as NodeJS.EventEmitter, 'open');
  await waiting;
  const closed = untilClosed(socket);
  socket.close();
  await closed;
  const told = taps.client.timeline.connections.map(exchanges);
  expect(told).toEqual([[`received:${OPEN}`, 'received:42["late"]']]);
});

test.each<[string, string, Answer]>([
  ['of version 3, which writes lengths', 'EIO=3&transport=polling', text(`40:${OPEN}`)],
  [
    'that is compressed',
    'EIO=4&transport=polling',
    (response) => {
      response.setHeader('content-encoding', 'gzip').end(gzipSync(OPEN));
    },
  ],
  [
    'that is refused',
    'EIO=4&transport=polling',
    (response) => {
      response.writeHead(400).end(OPEN);
    },
  ],
  ['whose beginning was not seen', 'EIO=4&transport=polling&sid=e1', text('42["a"]')],
  ['of another protocol', 'mode=4&transport=polling', text(OPEN)],
])('nothing is told of polling %s', async (_, query, answer) => {
  script.push(answer, text('42["b"]'));
  await ask(query);
  await ask('EIO=4&transport=polling&sid=e1');
  expect(await toldOverWebSocket()).toEqual(OWN);
});

test('an answer that is broken off, and one of more than a mebibyte, are not told', async () => {
  script.push(
    text(OPEN),
    (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('42["half"]', () => response.destroy());
    },
    text(`42["${'x'.repeat(1 << 20)}"]`),
  );
  await ask('EIO=4&transport=polling');
  await expect(ask('EIO=4&transport=polling&sid=e1')).rejects.toThrow('aborted');
  await ask('EIO=4&transport=polling&sid=e1');
  expect(await toldOverWebSocket()).toEqual([`received:${OPEN}`, ...OWN]);
});

test('requests and answers are what they were, and nothing of ours stays on them', async () => {
  script.push(text(OPEN), text('ok'), text('plain'));
  const first = await ask('EIO=4&transport=polling');
  const second = await ask('EIO=4&transport=polling&sid=e1', ['40']);
  const plain = await ask('neither=1');
  expect([first.text, second.text, plain.text]).toEqual([OPEN, 'ok', 'plain']);
  for (const { carrier, response } of [first, second]) {
    expect(Object.getPrototypeOf(carrier)).toBe(Object.getPrototypeOf(plain.carrier));
    expect(Object.getPrototypeOf(response)).toBe(Object.getPrototypeOf(plain.response));
    expect(Reflect.ownKeys(carrier)).toEqual(Reflect.ownKeys(plain.carrier));
  }
});

test('a path that is no text is asked for as before', async () => {
  script.push(text('plain'));
  const { hostname: host, port } = new URL(origin);
  const carrier = request({ host, port, path: ['/array'] as unknown as string });
  carrier.end();
  const [response] = (await once(carrier, 'response')) as [IncomingMessage];
  expect(response.resume().statusCode).toBe(200);
});
