import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const FIXTURE = fileURLToPath(new URL('fixtures/instance.mjs', import.meta.url));

/** Directories from which one client of Redis each can be loaded. */
const CLIENTS = {
  redis: fileURLToPath(new URL('../../packages/guard', import.meta.url)),
  ioredis: fileURLToPath(new URL('..', import.meta.url)),
  none: fileURLToPath(new URL('../../packages/core', import.meta.url)),
} as const;

export interface InstanceOptions {
  readonly name: string;
  readonly redis: string;
  readonly client?: keyof typeof CLIENTS;
  /** Declared by its log. */
  readonly epoch?: string;
}

interface Heard {
  readonly kind: string;
  readonly port?: number;
  readonly verdict?: unknown;
}

/** One instance of a service, in a process of its own. */
export class Instance {
  readonly verdicts: unknown[] = [];
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start({ name, redis, epoch, client = 'redis' }: InstanceOptions): Promise<Instance> {
    const child = fork(FIXTURE, [JSON.stringify({ epoch })], {
      cwd: CLIENTS[client],
      execArgv: [],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      env: {
        PATH: process.env['PATH'],
        OTEL_SERVICE_NAME: 'feeds',
        OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${name}`,
        SAMERIVER_ORIGIN_REDIS: redis,
      },
    });
    const ready = (await heard(child, 'ready')).port;
    if (ready === undefined) throw new Error('an instance said that it is ready without its port');
    const instance = new Instance(child, ready);
    child.on('message', ({ kind, verdict }: Heard) => {
      if (kind === 'verdict') instance.verdicts.push(verdict);
    });
    return instance;
  }

  publish(...ids: string[]): void {
    this.#child.send({ kind: 'publish', ids });
  }

  /** What it first writes to stderr. */
  async complaint(): Promise<unknown> {
    const [text] = this.#child.stderr === null ? [] : await once(this.#child.stderr, 'data');
    return String(text);
  }

  endStreams(): void {
    this.#child.send({ kind: 'end' });
  }

  attached(): Promise<unknown> {
    return heard(this.#child, 'attached');
  }

  async verdict(): Promise<unknown> {
    if (this.verdicts.length === 0) await heard(this.#child, 'verdict');
    return this.verdicts[0];
  }

  /** @returns its exit code, once nothing keeps it any more. */
  async close(): Promise<unknown> {
    this.#child.send({ kind: 'close' });
    const [code] = await once(this.#child, 'exit');
    return code;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

async function heard(child: ChildProcess, kind: string): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: Heard): void => {
      if (message.kind !== kind) return;
      child.off('message', onMessage).off('exit', onExit);
      resolve(message);
    };
    const onExit = (code: number | null): void =>
      reject(new Error(`the instance ended (${code}) before it was ${kind}`));
    child.on('message', onMessage).on('exit', onExit);
  });
}
