import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianPackage } from './debian-package.ts';
import { freePort } from './redis-server.ts';

const run = promisify(execFile);

/** A PostgreSQL of the test's own on the loopback interface. */
export interface PostgresServer {
  /** `postgres://…` */
  readonly url: string;
  /** Ends it once its clients have, and everything it was told is gone. */
  close(): Promise<void>;
}

/** @throws Error when PostgreSQL is not installed and cannot be, or does not start. */
export async function postgresServer(): Promise<PostgresServer> {
  const bin = await binaries();
  const dir = await mkdtemp(join(tmpdir(), 'sameriver-postgres-'));
  const owner = await unprivileged();
  if (owner !== undefined) chownSync(dir, owner.uid, owner.gid);
  const data = join(dir, 'data');
  const port = await freePort();
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'test', '-A', 'trust', '-N'], {
    ...owner,
    cwd: dir,
  });
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${dir}`];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting]), '-c', 'fsync=off'];
  const child = spawn(join(bin, 'postgres'), args, {
    ...owner,
    cwd: dir,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  await ready(child.stderr, ended);
  return {
    url: `postgres://test@127.0.0.1:${port}/postgres`,
    close: async () => {
      // Waits for clients that are on their way out; another signal would be an error to them.
      child.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true });
    },
  };
}

/** They lie in no PATH, below the number of their release. */
async function binaries(): Promise<string> {
  const installed = (): string | undefined => globSync('/usr/lib/postgresql/*/bin').sort().at(-1);
  // The wrapper comes with whatever release the distribution has.
  if (installed() === undefined) await debianPackage('postgresql', 'pg_ctlcluster');
  const bin = installed();
  if (bin === undefined)
    throw new Error('The package postgresql has no /usr/lib/postgresql/*/bin.');
  return bin;
}

/** PostgreSQL refuses to run as root; its package brings a user for it. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = await readFile('/etc/passwd', 'utf8');
  const fields = /^postgres:.*$/m.exec(users)?.[0].split(':') ?? [];
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
}

async function ready(log: NodeJS.ReadableStream, ended: Promise<unknown>): Promise<void> {
  let text = '';
  const isUp = new Promise<void>((resolve) => {
    log.on('data', (chunk: Buffer) => {
      text += chunk;
      if (text.includes('ready to accept connections')) resolve();
    });
  });
  const failed = ended.then(() => {
    throw new Error(`postgres ended before it was ready:\n${text}`);
  });
  failed.catch(() => {});
  await Promise.race([isUp, failed]);
}
