import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Taps, WsPeer } from '../../test/harness.ts';
import {
  CLIENTS,
  connect,
  connectionTo,
  exchanges,
  rawPeer,
  STANDARD,
  startTaps,
  untilClosed,
  WS,
  WS8,
  wsPeer,
} from '../../test/harness.ts';

let taps: Taps;
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  taps = startTaps();
});
afterEach(async () => {
  taps.stop();
  for (const peer of open.splice(0)) await peer.close();
  expect(taps.client.recorder.errors).toEqual([]);
});

async function peer(...args: Parameters<typeof wsPeer>): Promise<WsPeer> {
  const made = await wsPeer(...args);
  open.push(made);
  return made;
}

async function raw(...args: Parameters<typeof rawPeer>): ReturnType<typeof rawPeer> {
  const made = await rawPeer(...args);
  open.push(made);
  return made;
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

describe.each(CLIENTS)('a WebSocket of $name', (library) => {
  test('is told from its handshake to its close code, with every message in its order', async () => {
    const { url } = await peer((socket) => {
      socket.on('message', () => {
        socket.send('first');
        socket.send(Buffer.from([1, 2]));
        socket.close(4001, 'enough');
      });
    });
    const socket = connect(library, `${url}/feed?since=41`);
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => socket.send('subscribe'));
    await untilClosed(socket);
    const { timeline, recorder } = taps.client;
    expect(timeline.connections).toHaveLength(1);
    const connection = connectionTo(taps.client, '/feed?since=41');
    expect(connection.request).toMatchObject({ transport: 'websocket', method: 'GET' });
    expect(connection.request.origin).toBe(url.replace('ws', 'http'));
    expect(connection.steps).toEqual(['open', 'response 101', 'end close:4001']);
    expect(exchanges(connection)).toEqual(['sent:subscribe', 'received:first', 'received:0102']);
    expect(recorder.starts.get(connection)?.attributes).toEqual({
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(url).port),
    });
  });

  test('ends with 1006 when the connection breaks off', async () => {
    const { url } = await peer((socket) => socket.terminate());
    await untilClosed(connect(library, url));
    expect(connectionTo(taps.client, '/').steps).toEqual([
      'open',
      'response 101',
      'end close:1006',
    ]);
  });

  test('ends without a code when the application closes it without one', async () => {
    const { url } = await peer(() => {});
    const socket = connect(library, url);
    socket.addEventListener('open', () => socket.close());
    await untilClosed(socket);
    expect(connectionTo(taps.client, '/').steps.at(-1)).toBe('end close:1005');
  });

  test.each([401, 409, 503])('refused with %i is told with that status', async (status) => {
    const { url } = await raw((socket) => {
      socket.end(`HTTP/1.1 ${status} No\r\nx-why: because\r\ncontent-length: 2\r\n\r\nno`);
    });
    connect(library, `${url}/no`);
    const { timeline } = taps.client;
    await timeline.until(() => timeline.connections[0]?.steps.length === 2);
    const connection = connectionTo(taps.client, '/no');
    expect(connection.steps).toEqual(['open', `response ${status}`]);
    expect(taps.client.recorder.noStreams).toContain(connection);
  });

  test('that reaches nobody is an attempt without an answer', async () => {
    const free = createServer();
    free.listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    connect(library, `ws://127.0.0.1:${port}/`);
    await taps.client.timeline.untilOver(1);
    const connection = connectionTo(taps.client, '/');
    expect(connection.steps).toEqual(['open', 'end reset']);
    expect(taps.client.recorder.unanswered.get(connection)).toBe('ECONNREFUSED');
  });

  test('whose server drops the request is an attempt without an answer', async () => {
    const { url } = await raw((socket) => socket.destroy());
    connect(library, url);
    await taps.client.timeline.untilOver(1);
    const connection = connectionTo(taps.client, '/');
    expect(taps.client.recorder.unanswered.get(connection)).toMatch(
      /^(ECONNRESET|UND_ERR_SOCKET)$/,
    );
  });

  test('given up before it opened is an attempt that the application aborted', async () => {
    const { url } = await raw(() => {});
    const socket = connect(library, url);
    await taps.client.timeline.until(() => taps.client.timeline.connections.length === 1);
    socket.close();
    await taps.client.timeline.untilOver(1);
    const connection = connectionTo(taps.client, '/');
    expect(connection.steps).toEqual(['open', 'end aborted']);
    expect(taps.client.recorder.unanswered.get(connection)).toBe('aborted');
  });

  test('whose server answers with a wrong hash is an attempt that failed', async () => {
    const { url } = await raw((socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          'Sec-WebSocket-Accept: nonsense\r\n\r\n',
      );
    });
    connect(library, url);
    await taps.client.timeline.untilOver(1);
    const connection = connectionTo(taps.client, '/');
    expect(connection.steps).toHaveLength(2);
    // Where undici does not tell of the 101, giving up looks like the application's doing.
    expect(taps.client.recorder.unanswered.get(connection)).toMatch(/^(handshake|aborted)$/);
  });

  test('is followed with the sub-protocol that it asked for and the one that it got', async () => {
    const { url } = await peer((socket) => socket.close(1000));
    await untilClosed(connect(library, url, ['since.41', 'v1']));
    const connection = connectionTo(taps.client, '/');
    const asked = connection.request.header('sec-websocket-protocol') ?? '';
    expect(asked.split(/, ?/)).toEqual(['since.41', 'v1']);
    expect(connection.responseHeader('sec-websocket-protocol')).toBe('since.41');
  });

  test('is told with every header of the answer', async () => {
    const { url, wss } = await peer((socket) => socket.close(1000));
    wss.on('headers', (headers) => headers.push('X-Epoch: e7'));
    await untilClosed(connect(library, url));
    expect(connectionTo(taps.client, '/').responseHeader('x-epoch')).toBe('e7');
  });

  test('is told all of a fragmented message at once', async () => {
    const { url } = await peer((socket) => {
      socket.send('one ', { fin: false });
      socket.send('two ', { fin: false });
      socket.send('three', { fin: true });
      socket.close(1000);
    });
    await untilClosed(connect(library, url));
    expect(exchanges(connectionTo(taps.client, '/'))).toEqual(['received:one two three']);
  });

  test('is told compressed messages as they are read', async () => {
    const text = 'again and '.repeat(300);
    const { url } = await peer(
      (socket) => {
        socket.on('message', () => socket.close(1000));
        socket.send(text);
      },
      { perMessageDeflate: { threshold: 0 } },
    );
    const socket = connect(library, url);
    socket.addEventListener('message', () => socket.send(text));
    await untilClosed(socket);
    expect(socket.extensions).toContain('permessage-deflate');
    expect(exchanges(connectionTo(taps.client, '/'))).toEqual([`received:${text}`, `sent:${text}`]);
  });

  test('is told nothing of what it sends while it closes', async () => {
    const { url } = await peer(() => {});
    const socket = connect(library, url);
    socket.addEventListener('open', () => {
      socket.close(1000);
      socket.send('too late');
    });
    await untilClosed(socket);
    expect(exchanges(connectionTo(taps.client, '/'))).toEqual([]);
  });

  test('is ended as aborted when the tap is taken away, and goes on as before', async () => {
    const { url } = await peer((socket) => {
      socket.on('message', (data) => socket.send(String(data)));
    });
    const socket = connect(library, url);
    await new Promise((resolve) => socket.addEventListener('open', resolve));
    await taps.client.timeline.until(() => taps.client.timeline.connections[0]?.steps.length === 2);
    taps.stop();
    expect(connectionTo(taps.client, '/').steps.at(-1)).toBe('end aborted');
    const answer = new Promise<MessageEvent>((resolve) => {
      socket.addEventListener('message', resolve);
    });
    socket.send('still there');
    expect((await answer).data).toBe('still there');
    expect(exchanges(connectionTo(taps.client, '/'))).toEqual([]);
    socket.close();
    await untilClosed(socket);
  });

  test('of many to one URL keeps its own messages and its own end', async () => {
    const { url } = await peer((socket) => {
      socket.on('message', (data) => {
        socket.send(String(data));
        socket.close(4000 + Number(data));
      });
    });
    await Promise.all(
      [1, 2, 3, 4, 5].map((number) => {
        const socket = connect(library, url);
        socket.addEventListener('open', () => socket.send(String(number)));
        return untilClosed(socket);
      }),
    );
    const told = taps.client.timeline.connections.map((connection) => [
      ...exchanges(connection),
      connection.steps.at(-1),
    ]);
    expect(told.sort()).toEqual(
      [1, 2, 3, 4, 5].map((n) => [`sent:${n}`, `received:${n}`, `end close:400${n}`]),
    );
  });

  test('that fails beside others of its URL takes none of them with it', async () => {
    let handshakes = 0;
    const { url } = await raw((socket, _path, key) => {
      handshakes += 1;
      if (handshakes === 2) socket.end('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n');
      else {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
            `Sec-WebSocket-Accept: ${acceptOf(key)}\r\n\r\n`,
        );
        socket.end(Buffer.from([0x81, 1, 0x61, 0x88, 2, 3, 0xe8]));
      }
    });
    const sockets = [1, 2, 3].map(() => connect(library, url));
    const { timeline } = taps.client;
    await timeline.until(
      () => timeline.connections.filter(({ steps }) => steps.length >= 2).length === 3,
    );
    await timeline.untilOver(2);
    expect(timeline.connections.map(({ steps }) => steps.join(' ')).sort()).toEqual([
      'open response 101 end close:1000',
      'open response 101 end close:1000',
      'open response 503',
    ]);
    for (const socket of sockets) socket.close();
  });
});

describe.each(WS)('a WebSocket of $name', (library) => {
  test('carries its cursor in a header of the request, and evidence in one of the answer', async () => {
    const { url, wss } = await peer((socket) => socket.close(1000));
    wss.on('headers', (headers) => headers.push('X-Epoch: e7'));
    const socket = new library.WebSocket(url, { headers: { 'X-Since': '41' } });
    await once(socket, 'close');
    const connection = connectionTo(taps.client, '/');
    expect(connection.request.header('x-since')).toBe('41');
    expect(connection.responseHeader('x-epoch')).toBe('e7');
  });

  test('L6: that is redirected stays one attempt', async () => {
    const { url } = await peer((socket) => socket.close(1000));
    const first = await raw((socket) => {
      socket.end(`HTTP/1.1 302 Found\r\nlocation: ${url}/there?since=4\r\n\r\n`);
    });
    const socket = new library.WebSocket(`${first.url}/here`, { followRedirects: true });
    await once(socket, 'close');
    expect(taps.client.timeline.connections).toHaveLength(1);
    expect(connectionTo(taps.client, '/here').steps).toEqual([
      'open',
      'redirect /there?since=4',
      'response 101',
      'end close:1000',
    ]);
  });

  test('that does not follow a redirect was refused with it', async () => {
    const first = await raw((socket) => {
      socket.end('HTTP/1.1 302 Found\r\nlocation: /there\r\n\r\n');
    });
    const socket = connect(library, first.url);
    await untilClosed(socket);
    expect(connectionTo(taps.client, '/').steps).toEqual(['open', 'response 302']);
  });

  test('whose answer the application reads itself was refused all the same', async () => {
    const { url } = await raw((socket) => {
      socket.end('HTTP/1.1 410 Gone\r\ncontent-length: 4\r\n\r\ngone');
    });
    const socket = new library.WebSocket(url);
    const [, response] = await once(socket, 'unexpected-response');
    response.resume();
    await once(response, 'end');
    expect(connectionTo(taps.client, '/').steps).toEqual(['open', 'response 410']);
  });

  test('that waits too long for its handshake has timed out', async () => {
    const { url } = await raw(() => {});
    const socket = new library.WebSocket(url, { handshakeTimeout: 20 });
    socket.on('error', () => {});
    await taps.client.timeline.untilOver(1);
    const connection = connectionTo(taps.client, '/');
    expect(taps.client.recorder.unanswered.get(connection)).toBe('timeout');
  });

  test('that is terminated ends with 1006', async () => {
    const { url } = await peer(() => {});
    const socket = new library.WebSocket(url);
    socket.on('open', () => socket.terminate());
    await once(socket, 'close');
    expect(connectionTo(taps.client, '/').steps.at(-1)).toBe('end close:1006');
  });

  test.each(['nodebuffer', 'arraybuffer', 'fragments'] as const)(
    'that reads binary as %s is told the same bytes',
    async (binaryType) => {
      const { url } = await peer((socket) => {
        socket.send(Buffer.from([1, 2]), { fin: false });
        socket.send(Buffer.from([3]));
        socket.close(1000);
      });
      const socket = new library.WebSocket(url);
      socket.binaryType = binaryType;
      await once(socket, 'close');
      expect(exchanges(connectionTo(taps.client, '/'))).toEqual(['received:010203']);
    },
  );

  test.each([
    ['a string', 'é', 'sent:é', 'c3a9'],
    ['a Buffer', Buffer.from('é'), 'sent:c3a9', 'c3a9'],
    ['a Uint8Array', Uint8Array.of(7, 8), 'sent:0708', '0708'],
    ['a Uint16Array', Uint16Array.of(0x0102), 'sent:0201', '0201'],
    ['a DataView', new DataView(Uint8Array.of(1, 2, 3).buffer, 1), 'sent:0203', '0203'],
    ['an ArrayBuffer', Uint8Array.of(9).buffer, 'sent:09', '09'],
    ['a number', 5, 'sent:5', '35'],
    ['nothing', '', 'sent:', ''],
  ])('that sends %s is told what goes out', async (_kind, data, told, wire) => {
    const arrived: string[] = [];
    const { url } = await peer(
      (socket) => {
        socket.on('message', (message: Buffer) => {
          arrived.push(Buffer.from(message).toString('hex'));
          socket.close(1000);
        });
      },
      { library: WS8 },
    );
    const socket = new library.WebSocket(url);
    socket.on('open', () => socket.send(data));
    await once(socket, 'close');
    expect(exchanges(connectionTo(taps.client, '/'))).toEqual([told]);
    expect(arrived).toEqual([wire]);
  });
});

describe.each(STANDARD)('a WebSocket of $name', (library) => {
  test('counts a Blob that it cannot look into', async () => {
    const { url } = await peer((socket) => {
      socket.send(Buffer.from([1]));
      socket.close(1000);
    });
    const socket = connect(library, url);
    expect(socket.binaryType).toBe('blob');
    await untilClosed(socket);
    expect(exchanges(connectionTo(taps.client, '/'))).toEqual(['received:?']);
  });

  test('has its HTTP span ended with its verdict, which nobody else does', async () => {
    const { url } = await peer((socket) => socket.close(1000));
    await untilClosed(connect(library, url));
    const connection = connectionTo(taps.client, '/');
    expect(taps.client.recorder.starts.get(connection)?.endsHttpSpan).toBe(true);
  });
});

describe('what is not followed', () => {
  test('is a handshake that the application wants ignored', async () => {
    const { url } = await peer((socket) => socket.close(1000));
    taps.client.ignored.add('/');
    for (const library of CLIENTS) await untilClosed(connect(library, url));
    expect(taps.client.timeline.connections).toEqual([]);
  });

  test('is a request for another protocol, or for none', async () => {
    const { url } = await peer(() => {});
    const origin = url.replace('ws', 'http');
    const { request } = await import('node:http');
    const plain = request(origin).end();
    const [response] = await once(plain, 'response');
    response.resume();
    await fetch(origin).then((answer) => answer.text());
    const other = request(origin, { headers: { connection: 'upgrade', upgrade: 'h2c' } }).end();
    other.on('error', () => {});
    await once(other, 'close');
    expect(taps.client.timeline.connections).toEqual([]);
  });

  test('is a connection that another library than ws takes over', async () => {
    const { url } = await raw((socket, _path, key) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          `Sec-WebSocket-Accept: ${acceptOf(key)}\r\n\r\n`,
      );
    });
    const { request } = await import('node:http');
    const asked = request(url.replace('ws', 'http'), {
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAA' },
    }).end();
    const [, socket] = (await once(asked, 'upgrade')) as [unknown, Socket];
    expect(connectionTo(taps.client, '/').steps).toEqual(['open', 'end aborted']);
    socket.destroy();
  });

  test('is what the application emits on its own after the close', async () => {
    const { url } = await peer((socket) => socket.close(1000));
    const socket = new WS8.WebSocket(url);
    await once(socket, 'close');
    socket.emit('message', 'made up', false);
    socket.emit('close', 1011, Buffer.alloc(0));
    const connection = connectionTo(taps.client, '/');
    expect(exchanges(connection)).toEqual([]);
    expect(connection.steps.at(-1)).toBe('end close:1000');
  });
});
