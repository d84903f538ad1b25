import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { OriginIndex } from '@sameriver/telemetry';
import type { RedisClient } from '@sameriver/telemetry/origin-redis';
import { redisOriginIndex } from '@sameriver/telemetry/origin-redis';

/** What of `redis` and of `ioredis` is used. */
interface NodeRedis {
  createClient(options: Readonly<Record<string, unknown>>): {
    readonly isReady: boolean;
    on(event: 'error', listener: () => void): unknown;
    connect(): Promise<unknown>;
    unref(): void;
    sendCommand(command: string[]): Promise<unknown>;
  };
}
interface IoRedis {
  readonly Redis: new (
    url: string,
    options: Readonly<Record<string, unknown>>,
  ) => {
    readonly status: string;
    readonly stream?: { unref?(): void };
    on(event: 'error', listener: () => void): unknown;
    connect(): Promise<unknown>;
    call(command: string, ...values: string[]): Promise<unknown>;
  };
}

interface Connection {
  isReady(): boolean;
  send(command: string[]): Promise<unknown>;
}

type Connect = () => Promise<Connection>;

/** Milliseconds. No longer than a verdict would wait for several times. */
const CONNECT_TIMEOUT = 1_000;
const PAUSE = 1_000;

/**
 * An index in the Redis at `url`, through the client that the application has installed. It
 * connects when it is first needed, and keeps no process alive.
 *
 * @returns `undefined` where neither `redis` nor `ioredis` can be loaded from `directory`.
 */
export function openOriginRedis(
  url: string,
  directory: string,
  service: string,
): OriginIndex | undefined {
  const connect = connectorIn(url, directory);
  if (connect === undefined) return undefined;
  return redisOriginIndex(reconnecting(connect), { prefix: `sameriver:origins:${service}:` });
}

function connectorIn(url: string, directory: string): Connect | undefined {
  const require = createRequire(join(directory, 'package.json'));
  const found = <Library>(name: string): Library | undefined => {
    try {
      return require(name) as Library;
    } catch {
      return undefined;
    }
  };
  const redis = found<NodeRedis>('redis');
  if (redis !== undefined) return () => connectRedis(redis, url);
  const ioredis = found<IoRedis>('ioredis');
  return ioredis && (() => connectIoRedis(ioredis, url));
}

// The clients' own reconnecting waits with timers that keep a process alive.
async function connectRedis({ createClient }: NodeRedis, url: string): Promise<Connection> {
  const socket = { connectTimeout: CONNECT_TIMEOUT, reconnectStrategy: false };
  const client = createClient({ url, disableOfflineQueue: true, socket });
  client.on('error', () => {});
  client.unref();
  await client.connect();
  client.unref();
  return { isReady: () => client.isReady, send: (command) => client.sendCommand(command) };
}

async function connectIoRedis({ Redis }: IoRedis, url: string): Promise<Connection> {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT,
    retryStrategy: () => null,
  });
  client.on('error', () => {});
  await client.connect();
  client.stream?.unref?.();
  return {
    isReady: () => client.status === 'ready',
    send: ([command = '', ...values]) => client.call(command, ...values),
  };
}

/** Connects when there is something to send, and after a failure not before a pause. */
function reconnecting(connect: Connect): RedisClient {
  let connection: Connection | undefined;
  let connecting: Promise<Connection> | undefined;
  let notBefore = 0;

  async function connected(): Promise<Connection> {
    if (connection?.isReady() === true) return connection;
    if (connecting === undefined && performance.now() < notBefore) {
      throw new Error('Redis did not answer a moment ago');
    }
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    try {
      connection = await connecting;
      return connection;
    } catch (error) {
      notBefore = performance.now() + PAUSE;
      throw error;
    }
  }

  return { sendCommand: async (command) => (await connected()).send(command) };
}
