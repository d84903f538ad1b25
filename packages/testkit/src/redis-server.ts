import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { debianPackage } from './debian-package.ts';

/** A Redis of the test's own on the loopback interface. */
export interface RedisServer {
  /** `redis://127.0.0.1:port` */
  readonly url: string;
  /** Ends it; what it was told is gone unless it keeps a file. */
  close(): Promise<void>;
}

export interface RedisServerOptions {
  /** Default: one that is free. */
  readonly port?: number;
  /** Keep an append-only file here and write it through on every command. Default: nothing is kept. */
  readonly dir?: string;
}

/** @throws Error when Redis is not installed and cannot be, or does not start. */
export async function redisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const program = await debianPackage('redis-server');
  const { port = await freePort(), dir } = options;
  const durable =
    dir === undefined ? [] : ['--dir', dir, '--appendonly', 'yes', '--appendfsync', 'always'];
  const child = spawn(
    program,
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', ...durable],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const ended = once(child, 'close');
  let log = '';
  child.stdout.setEncoding('utf8');
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (text: string) => {
      log += text;
      if (log.includes('Ready to accept connections')) resolve();
    });
  });
  const failed = ended.then(() => {
    throw new Error(`redis-server ended before it was ready:\n${log}`);
  });
  failed.catch(() => {});
  await Promise.race([ready, failed]);
  return {
    url: `redis://127.0.0.1:${port}`,
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A port of the loopback interface that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
