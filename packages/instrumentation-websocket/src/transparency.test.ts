import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import type { WebSocket as NodeWebSocket } from 'ws';
import type { Taps, WsLibrary } from '../test/harness.ts';
import {
  CLIENTS,
  connect,
  rawPeer,
  STANDARD,
  startTaps,
  WS,
  WS8,
  wsPeer,
} from '../test/harness.ts';

let taps: Taps | undefined;
afterEach(() => {
  taps?.stop();
  taps = undefined;
});

/** Runs something that tells what it saw, without and with the taps. */
async function bothWays(observe: () => Promise<unknown>): Promise<[unknown, unknown]> {
  const without = await observe();
  taps = startTaps();
  const beside = await observe();
  expect(taps.client.timeline.connections.length).toBeGreaterThan(0);
  expect([...taps.client.recorder.errors, ...taps.server.recorder.errors]).toEqual([]);
  return [without, beside];
}

function shapeOf(target: object): unknown {
  const enumerable: string[] = [];
  for (const name in target) enumerable.push(name);
  return {
    own: Object.keys(target),
    json: Object.keys({ ...target }),
    enumerable: enumerable.sort(),
  };
}

function listenersOf(emitter: NodeJS.EventEmitter): unknown {
  return emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]);
}

async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return { returned: await call() };
  } catch (error) {
    const { name, message, code } = error as Error & { code?: unknown };
    return { name, message, code };
  }
}

/** Everything that listeners and callers of one `ws` socket can see. */
async function lifeOf(socket: NodeWebSocket, begin: () => void): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const event of ['open', 'upgrade', 'message', 'ping', 'pong', 'error', 'close'] as const) {
    socket.on(event, function (this: unknown, ...args: unknown[]) {
      const told = args.map((arg) => (arg instanceof http.IncomingMessage ? 'response' : arg));
      seen.push([event, this === socket, args.length, told, listenersOf(socket)]);
    });
  }
  const never = (): void => {
    seen.push('removed, and called all the same');
  };
  socket.on('message', never);
  socket.off('message', never);
  socket.once('message', () => seen.push('once'));
  socket.addEventListener('message', ({ data, type, target }) => {
    seen.push([type, data, target === socket]);
  });
  begin();
  await new Promise((resolve) => socket.on('close', resolve));
  seen.push(shapeOf(socket), inspect(socket, { depth: 0 }).length > 0);
  return seen;
}

async function observeWs(library: WsLibrary, perMessageDeflate: boolean): Promise<unknown> {
  const ofServer = Promise.withResolvers<unknown>();
  const peer = await wsPeer(
    (socket) => {
      ofServer.resolve(
        lifeOf(socket, () => {
          socket.send('text');
          socket.send(Buffer.from([1, 2]), { binary: true }, () => socket.ping('p'));
          socket.on('message', (data) => {
            if (String(data) === 'bye') socket.close(4001, 'reason');
          });
        }),
      );
    },
    { library, perMessageDeflate },
  );
  const socket = new library.WebSocket(peer.url, { perMessageDeflate });
  const calls = [await outcome(() => socket.send('too early'))];
  const ofClient = await lifeOf(socket, () => {
    socket.on('pong', () => socket.send('bye'));
    socket.on('open', () => {
      calls.push(socket.send('hi'), socket.bufferedAmount, socket.readyState);
      socket.ping();
    });
  });
  calls.push(await outcome(() => socket.send('too late')));
  calls.push(await outcome(() => new Promise((resolve) => socket.send('late', resolve))));
  const told = { ofClient, calls, ofServer: await ofServer.promise };
  await peer.close();
  return told;
}

describe.each(WS)('beside the taps a WebSocket of $name', (library) => {
  test.each([false, true])(
    'emits, takes, returns and throws what it did without (compression: %s)',
    async (perMessageDeflate) => {
      const [without, beside] = await bothWays(() => observeWs(library, perMessageDeflate));
      expect(beside).toEqual(without);
    },
  );

  test('lets errors of listeners reach whoever emitted', async () => {
    const [without, beside] = await bothWays(async () => {
      const peer = await wsPeer(() => {}, { library });
      const socket = new library.WebSocket(peer.url);
      await once(socket, 'open');
      socket.on('message', () => {
        throw new RangeError('of the application');
      });
      const thrown = [
        await outcome(() => socket.emit('message', Buffer.from('x'), false)),
        await outcome(() => socket.emit('error', new Error('unheard of'))),
        await outcome(() => socket.emit('nobody listens')),
        await outcome(() => socket.send(Symbol('no data') as never)),
        await outcome(() => socket.send('x', { binary: false }, 'no function' as never)),
      ];
      socket.terminate();
      await peer.close();
      return thrown;
    });
    expect(beside).toEqual(without);
    expect(beside).toContainEqual(expect.objectContaining({ message: 'of the application' }));
  });

  test('is refused as it was without', async () => {
    const [without, beside] = await bothWays(async () => {
      const peer = await rawPeer((socket) => {
        socket.end('HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\nno');
      });
      const socket = new library.WebSocket(peer.url);
      const [error] = await once(socket, 'error', {});
      const heard = { message: (error as Error).message, listeners: listenersOf(socket) };
      const second = new library.WebSocket(peer.url);
      const [request, response] = await once(second, 'unexpected-response');
      response.resume();
      const seen = {
        status: response.statusCode,
        request: listenersOf(request),
        response: listenersOf(response),
        shape: shapeOf(request),
      };
      await peer.close();
      return { heard, seen };
    });
    expect(beside).toEqual(without);
  });

  test('leaves the network socket as it was without', async () => {
    const [without, beside] = await bothWays(async () => {
      const seen = Promise.withResolvers<unknown>();
      const peer = await wsPeer(
        (socket) => {
          const { _socket: network } = socket as unknown as { _socket: NodeJS.EventEmitter };
          seen.resolve({ shape: shapeOf(network), listeners: listenersOf(network) });
          socket.close(1000);
        },
        { library },
      );
      await once(new library.WebSocket(peer.url), 'close');
      await peer.close();
      return seen.promise;
    });
    expect(beside).toEqual(without);
  });
});

describe.each(STANDARD)('beside the taps a WebSocket of $name', (library) => {
  test('dispatches, takes, returns and throws what it did without', async () => {
    const [without, beside] = await bothWays(async () => {
      const peer = await wsPeer((socket) => {
        socket.send('text');
        socket.send(Buffer.from([1, 2]));
        socket.on('message', () => socket.close(4001, 'reason'));
      });
      const seen: unknown[] = [];
      const socket = connect(library, peer.url);
      seen.push(await outcome(() => socket.send('too early')));
      socket.binaryType = 'arraybuffer';
      const never = (): void => {
        seen.push('removed, and called all the same');
      };
      socket.addEventListener('message', never);
      socket.removeEventListener('message', never);
      socket.addEventListener('message', () => seen.push('once'), { once: true });
      socket.onmessage = function (this: unknown, event) {
        seen.push([event.type, event.data, this === socket, event.target === socket]);
        if (event.data instanceof ArrayBuffer) socket.send('bye');
      };
      socket.onopen = () => seen.push(['open', socket.readyState, socket.bufferedAmount]);
      await new Promise<void>((resolve) => {
        socket.onclose = ({ code, reason, wasClean }) => {
          seen.push(['close', code, reason, wasClean]);
          resolve();
        };
      });
      seen.push(await outcome(() => socket.send('too late')));
      seen.push(await outcome(() => socket.dispatchEvent(new Event('made up'))));
      seen.push(await outcome(() => socket.dispatchEvent('no event' as never)));
      seen.push(shapeOf(socket), socket.send.length, socket.send.name, socket.dispatchEvent.name);
      await peer.close();
      return seen;
    });
    expect(beside).toEqual(without);
  });
});

test('whoever listens on the channels of undici hears as before, early or late', async () => {
  const { subscribe, unsubscribe } = await import('node:diagnostics_channel');
  const heard: string[] = [];
  const early = (): unknown => heard.push('early');
  const late = (): unknown => heard.push('late');
  subscribe('undici:request:create', early);
  taps = startTaps();
  subscribe('undici:request:create', late);
  const peer = await wsPeer((socket) => socket.close(1000));
  const socket = connect({ WebSocket: globalThis.WebSocket }, peer.url);
  await new Promise((resolve) => socket.addEventListener('close', resolve));
  expect(heard.sort()).toEqual(['early', 'late']);
  unsubscribe('undici:request:create', early);
  taps.stop();
  await fetch(peer.url.replace('ws', 'http')).then((answer) => answer.arrayBuffer());
  expect(heard.sort()).toEqual(['early', 'late', 'late']);
  unsubscribe('undici:request:create', late);
  await peer.close();
});

describe('when the taps are taken away', () => {
  const prototypes = (): object[] => [
    ...CLIENTS.map(({ WebSocket }) => WebSocket.prototype),
    ...WS.map(({ WebSocketServer }) => WebSocketServer.prototype),
    ...WS.map(
      ({ WebSocket }) => (WebSocket as never as { Sender: typeof Object }).Sender.prototype,
    ),
    http.Server.prototype,
    https.Server.prototype,
    channel('undici:request:create'),
  ];
  const members = (): unknown[] =>
    prototypes().map((prototype) => Object.getOwnPropertyDescriptors(prototype));

  test('every prototype and channel is as it was', async () => {
    const before = members();
    const first = startTaps();
    const second = startTaps();
    const during = members();
    expect(during).not.toEqual(before);
    first.stop();
    expect(members()).not.toEqual(before);
    second.stop();
    const after = members();
    for (const [index, descriptors] of before.entries()) expect(after[index]).toEqual(descriptors);
  });

  test('a method that somebody else has wrapped since stays theirs, and works', async () => {
    const { prototype } = WS8.WebSocket;
    const patched = startTaps();
    const inner = prototype.send;
    const sent: unknown[] = [];
    prototype.send = function (this: NodeWebSocket, ...args: unknown[]) {
      sent.push(args[0]);
      return Reflect.apply(inner, this, args);
    } as typeof inner;
    const theirs = prototype.send;
    patched.stop();
    expect(prototype.send).toBe(theirs);
    const peer = await wsPeer((socket) => socket.on('message', () => socket.close(1000)));
    const socket = new WS8.WebSocket(peer.url);
    socket.on('open', () => socket.send('through'));
    await once(socket, 'close');
    expect(sent).toEqual(['through']);
    expect(patched.client.timeline.connections).toEqual([]);
    await peer.close();
  });

  test('no two taps follow one WebSocket of ws', async () => {
    const first = startTaps();
    const second = startTaps();
    const peer = await wsPeer((socket) => socket.close(1000));
    await once(new WS8.WebSocket(peer.url), 'close');
    await first.server.timeline.untilOver(1);
    const followed = [first, second].flatMap(({ server }) => server.timeline.connections);
    expect(followed).toHaveLength(1);
    first.stop();
    second.stop();
    await peer.close();
  });
});
