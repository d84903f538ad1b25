import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { StreamConnection, StreamReport } from '@sameriver/core';
import type { StopTap } from '@sameriver/telemetry';
import { createRecorder, startTaps } from '@sameriver/telemetry';
import { Centrifuge } from 'centrifuge';
import type * as GraphQL from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocket as PartySocket } from 'partysocket';
import type { Socket as ServerSocket } from 'socket.io';
import { Server as SocketServer } from 'socket.io';
import type { Socket as ClientSocket } from 'socket.io-client';
import { io } from 'socket.io-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WsPeer } from '../test/harness.ts';
import { connect, untilClosed, WS8, wsPeer } from '../test/harness.ts';
import { startClientTap } from './client/client-tap.ts';
import { startServerTap } from './server/server-tap.ts';
import { addWsCopy } from './ws-copies.ts';

// As graphql-ws loads it: two copies of graphql do not know each other's schemas.
const { GraphQLObjectType, GraphQLSchema, GraphQLString } = createRequire(import.meta.url)(
  'graphql',
) as typeof GraphQL;

// Its types want those of browsers.
const ReconnectingWebSocket = createRequire(import.meta.url)('reconnecting-websocket') as new (
  url: string,
  protocols: string[],
  options: object,
) => WebSocket;

interface Told {
  readonly role: string;
  readonly protocol: string;
  readonly report: StreamReport;
  readonly connection: StreamConnection;
}

let stop: StopTap;
let told: Told[];
let heard: () => void;
const cleanups: (() => unknown)[] = [];

beforeEach(() => {
  told = [];
  heard = () => undefined;
  stop = startTaps(
    'websocket',
    { client: startClientTap, server: startServerTap },
    {
      reportHook: (report, connection) => {
        const { role, protocol } = connection;
        told.push({ role, protocol, report, connection });
        heard();
      },
    },
    createRecorder({ name: 'test' }),
  );
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  stop();
});

/** Verdicts of the client, in their order. */
function verdicts(): unknown[] {
  return told
    .filter(({ role, report }) => role === 'client' && report.verdict !== undefined)
    .map(({ protocol, report: { verdict, missed, duplicates } }) => ({
      protocol,
      ...verdict,
      missed,
      duplicates,
    }));
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) {
    await new Promise<void>((resolve) => {
      heard = resolve;
    });
  }
}

const untilVerdicts = (count: number): Promise<void> => until(() => verdicts().length >= count);

async function peer(...args: Parameters<typeof wsPeer>): Promise<WsPeer> {
  const made = await wsPeer(...args);
  cleanups.push(() => made.close());
  return made;
}

// Both bring copies of their own, which a module hook finds in an application.
for (const owner of ['socket.io', 'socket.io-client']) {
  const inside = createRequire(createRequire(import.meta.url).resolve(owner));
  const engine = owner === 'socket.io' ? 'engine.io' : 'engine.io-client';
  addWsCopy(createRequire(inside.resolve(engine))('ws'));
}

describe('Socket.IO', () => {
  let http: HttpServer;
  let server: SocketServer;
  let accepted: ServerSocket[];
  let arrived: () => void;

  async function serve(connectionStateRecovery: object | undefined): Promise<void> {
    http ??= createServer();
    accepted = [];
    arrived = () => undefined;
    server = new SocketServer(http, {
      ...(connectionStateRecovery && { connectionStateRecovery }),
      pingInterval: 60_000,
    });
    server.on('connection', (socket) => {
      accepted.push(socket);
      arrived();
    });
    if (!http.listening) {
      http.listen(0, '127.0.0.1');
      await once(http, 'listening');
    }
  }

  beforeEach(() => {
    http = createServer();
  });

  function client(transports: string[]): ClientSocket {
    const { port } = http.address() as AddressInfo;
    const socket = io(`http://127.0.0.1:${port}`, {
      transports,
      reconnectionDelay: 1,
      reconnectionDelayMax: 1,
      randomizationFactor: 0,
      forceNew: true,
    });
    cleanups.push(() => {
      socket.disconnect();
      http.closeAllConnections();
      return server.close();
    });
    return socket;
  }

  async function untilAccepted(count: number): Promise<void> {
    while (accepted.length < count) {
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
  }

  function next(socket: ClientSocket, event: string): Promise<unknown> {
    return new Promise((resolve) => socket.once(event, resolve));
  }

  /** Drops the connection below the client, as a network does. */
  function drop({ io: { engine } }: ClientSocket): void {
    (engine as unknown as { transport: { ws: { terminate(): void } } }).transport.ws.terminate();
  }

  test('that recovers is resumed, by its own word and after the replay', async () => {
    await serve({});
    const socket = client(['websocket']);
    await next(socket, 'connect');
    await untilAccepted(1);
    const first = next(socket, 'news');
    server.emit('news', 'one');
    expect(await first).toBe('one');
    drop(socket);
    await next(socket, 'disconnect');
    server.emit('news', 'two');
    expect(await next(socket, 'news')).toBe('two');
    await untilVerdicts(1);
    expect(socket.recovered).toBe(true);
    expect(verdicts()).toEqual([
      {
        protocol: 'socket.io',
        classification: 'resumed',
        reason: 'server_declared',
        missed: 0,
        duplicates: 0,
      },
    ]);
  });

  test('whose server has forgotten the session is re-originated', async () => {
    await serve({});
    const socket = client(['websocket']);
    await next(socket, 'connect');
    await untilAccepted(1);
    const first = next(socket, 'news');
    server.emit('news', 'one');
    await first;
    const { port } = http.address() as AddressInfo;
    drop(socket);
    await server.close();
    http = createServer();
    http.listen(port, '127.0.0.1');
    await once(http, 'listening');
    await serve({});
    await next(socket, 'connect');
    await untilVerdicts(1);
    expect(socket.recovered).toBe(false);
    expect(verdicts()[0]).toMatchObject({ classification: 'reoriginated', protocol: 'socket.io' });
  });

  test('without recovery is not taken for resumed', async () => {
    await serve(undefined);
    const socket = client(['websocket']);
    await next(socket, 'connect');
    await untilAccepted(1);
    const first = next(socket, 'news');
    server.emit('news', 'one');
    await first;
    drop(socket);
    await next(socket, 'connect');
    await untilAccepted(2);
    const second = next(socket, 'news');
    server.emit('news', 'two');
    await second;
    expect(socket.recovered ?? false).toBe(false);
    socket.disconnect();
    await untilVerdicts(1);
    expect(verdicts()[0]).toMatchObject({ classification: 'unverifiable', protocol: 'socket.io' });
  });

  async function untilUpgraded({ io: { engine } }: ClientSocket): Promise<void> {
    if (engine.transport.name === 'websocket') return;
    await new Promise<void>((resolve) => engine.once('upgrade', () => resolve()));
  }

  test.each([
    ['recovers', {}, 'same server', true],
    ['has been forgotten', {}, 'other server', false],
    ['cannot recover', undefined, 'same server', false],
  ] as const)(
    'that begins by polling, changes over and %s is unverifiable: what would prove it went by polling',
    async (_, recovery, reached, recovered) => {
      await serve(recovery);
      const socket = client(['polling', 'websocket']);
      await next(socket, 'connect');
      await untilUpgraded(socket);
      await untilAccepted(1);
      const first = next(socket, 'news');
      server.emit('news', 'one');
      await first;
      const { port } = http.address() as AddressInfo;
      drop(socket);
      if (reached === 'other server') {
        await server.close();
        http = createServer();
        http.listen(port, '127.0.0.1');
        await once(http, 'listening');
        await serve(recovery);
      } else await next(socket, 'disconnect');
      const replayed = next(socket, 'news');
      if (recovered) server.emit('news', 'two');
      await next(socket, 'connect');
      if (recovered) expect(await replayed).toBe('two');
      expect(socket.recovered ?? false).toBe(recovered);
      await untilUpgraded(socket);
      socket.disconnect();
      await untilVerdicts(1);
      expect(verdicts()).toMatchObject([
        {
          protocol: 'socket.io',
          classification: 'unverifiable',
          reason: 'no_events',
          duplicates: 0,
        },
      ]);
    },
  );
});

describe('graphql-ws', () => {
  test('subscribes anew after each drop, which its protocol never hides', async () => {
    const schema = new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: { ok: { type: GraphQLString } } }),
      subscription: new GraphQLObjectType({
        name: 'Subscription',
        fields: {
          tick: {
            type: GraphQLString,
            subscribe: async function* () {
              yield { tick: 'one' };
              await new Promise(() => {});
            },
          },
        },
      }),
    });
    const { url, wss } = await peer(() => {}, {
      handleProtocols: () => 'graphql-transport-ws',
    });
    const server = useServer({ schema }, wss);
    const client = createClient({ url, webSocketImpl: WS8.WebSocket, retryWait: async () => {} });
    cleanups.push(() => client.dispose());
    const results: unknown[] = [];
    const done = new Promise<void>((resolve) => {
      client.subscribe(
        { query: 'subscription { tick }' },
        {
          next: ({ data }) => {
            results.push(data);
            if (results.length === 2) resolve();
            else for (const socket of wss.clients) socket.terminate();
          },
          error: () => {},
          complete: () => {},
        },
      );
    });
    await done;
    await untilVerdicts(1);
    expect(results).toEqual([{ tick: 'one' }, { tick: 'one' }]);
    expect(verdicts()).toMatchObject([
      {
        protocol: 'graphql-ws',
        classification: 'reoriginated',
        reason: 'protocol_never_resumes',
      },
    ]);
    void server;
  });
});

describe('centrifuge', () => {
  interface Command {
    readonly id?: number;
    readonly connect?: object;
    readonly subscribe?: {
      readonly channel: string;
      readonly offset?: number;
      readonly epoch?: string;
    };
  }

  /** A scripted server: what it says to each subscription, then a drop. */
  async function recovering(
    answer: (subscribe: NonNullable<Command['subscribe']>) => { readonly offset: number },
  ): Promise<unknown[]> {
    const subscriptions: NonNullable<Command['subscribe']>[] = [];
    const { url } = await peer((socket) => {
      socket.on('message', (data) => {
        for (const line of String(data).split('\n')) {
          const { id, connect: connecting, subscribe } = JSON.parse(line) as Command;
          if (connecting !== undefined) {
            socket.send(JSON.stringify({ id, connect: { client: 'c1', version: '5', ping: 25 } }));
          }
          if (subscribe === undefined) continue;
          subscriptions.push(subscribe);
          const reply = answer(subscribe);
          const isFirst = subscriptions.length === 1;
          socket.send(JSON.stringify({ id, subscribe: reply }));
          const offset = isFirst ? 5 : reply.offset + 1;
          const pub = { data: { n: offset }, offset };
          socket.send(JSON.stringify({ push: { channel: subscribe.channel, pub } }));
          if (isFirst) setImmediate(() => socket.terminate());
        }
      });
    });
    const client = new Centrifuge(`${url}/connection/websocket`, {
      websocket: WS8.WebSocket,
      minReconnectDelay: 1,
      maxReconnectDelay: 1,
    });
    cleanups.push(() => client.disconnect());
    const subscription = client.newSubscription('news', { positioned: true, recoverable: true });
    const recovered = new Promise<unknown>((resolve) => {
      subscription.on('subscribed', (context) => {
        if (subscriptions.length === 2) resolve(context.recovered);
      });
    });
    subscription.subscribe();
    client.connect();
    const said = await recovered;
    await untilVerdicts(1);
    expect(subscriptions[1]).toMatchObject({ offset: 5, epoch: 'e1' });
    return [said, verdicts()];
  }

  const FIRST = { recoverable: true, positioned: true, epoch: 'e1', offset: 4 };

  test('that recovers its channel is resumed', async () => {
    const again = {
      ...FIRST,
      offset: 6,
      recovered: true,
      was_recovering: true,
      publications: [{ data: { n: 6 }, offset: 6 }],
    };
    const [said, judged] = await recovering(({ offset }) => (offset === undefined ? FIRST : again));
    expect(said).toBe(true);
    expect(judged).toMatchObject([
      { protocol: 'centrifugo', classification: 'resumed', missed: 0, duplicates: 0 },
    ]);
  });

  test('whose channel has another epoch is re-originated, recovered or not', async () => {
    const again = { ...FIRST, epoch: 'e2', offset: 1, recovered: true, was_recovering: true };
    const [said, judged] = await recovering(({ offset }) => (offset === undefined ? FIRST : again));
    expect(said).toBe(true);
    expect(judged).toMatchObject([
      { protocol: 'centrifugo', classification: 'reoriginated', reason: 'epoch_changed' },
    ]);
  });

  test('whose channel was not recovered is re-originated', async () => {
    const again = { ...FIRST, offset: 90, was_recovering: true };
    const [said, judged] = await recovering(({ offset }) => (offset === undefined ? FIRST : again));
    expect(said).toBe(false);
    expect(judged).toMatchObject([{ protocol: 'centrifugo', classification: 'reoriginated' }]);
  });
});

describe.each([
  [
    'reconnecting-websocket',
    (url: string) =>
      new ReconnectingWebSocket(url, [], {
        WebSocket: WS8.WebSocket,
        minReconnectionDelay: 1,
        maxReconnectionDelay: 1,
      }),
  ],
  [
    'partysocket',
    (url: string) => new PartySocket(url, [], { minReconnectionDelay: 1, maxReconnectionDelay: 1 }),
  ],
] as const)('%s', (_name, make) => {
  test('is followed over its reconnects, each of which is unverifiable', async () => {
    let connections = 0;
    const { url } = await peer((socket) => {
      connections += 1;
      socket.send(`message of ${connections}`);
      if (connections < 3) socket.terminate();
    });
    const socket = make(`${url}/party`);
    cleanups.push(() => socket.close());
    const received: unknown[] = [];
    await new Promise<void>((resolve) => {
      socket.addEventListener('message', (event) => {
        const { data } = event as MessageEvent;
        received.push(data);
        if (received.length === 3) resolve();
      });
    });
    expect(received).toEqual(['message of 1', 'message of 2', 'message of 3']);
    socket.close();
    await untilVerdicts(2);
    expect(verdicts()).toEqual([
      {
        protocol: 'websocket',
        classification: 'unverifiable',
        reason: 'no_profile',
        missed: 'unknown',
        duplicates: 0,
      },
      {
        protocol: 'websocket',
        classification: 'unverifiable',
        reason: 'no_profile',
        missed: 'unknown',
        duplicates: 0,
      },
    ]);
  });
});

test('a fan-out to a thousand sockets reaches each of them, and is counted for each', async () => {
  const { url, wss } = await peer(() => {});
  const sockets = await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const socket = connect(WS8, url);
      await new Promise((resolve) => socket.addEventListener('open', resolve));
      return socket;
    }),
  );
  const received = sockets.map(
    (socket) =>
      new Promise<number>((resolve) => {
        let count = 0;
        socket.addEventListener('message', () => {
          count += 1;
          if (count === 5) resolve(count);
        });
      }),
  );
  for (let n = 1; n <= 5; n += 1) for (const socket of wss.clients) socket.send(`event ${n}`);
  expect(await Promise.all(received)).toEqual(Array(1000).fill(5));
  const ends = sockets.map(untilClosed);
  for (const socket of sockets) socket.close();
  await Promise.all(ends);
  await until(() => told.length >= 2000);
  for (const end of ['client', 'server']) {
    const followed = told.filter(({ role }) => role === end);
    expect(followed).toHaveLength(1000);
    expect(followed.every(({ connection: { events } }) => events === 5)).toBe(true);
  }
});
