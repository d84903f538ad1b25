import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What is loaded into a process before its application. */
export interface Setup {
  /** URLs for `--import`. */
  readonly imports?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Questions that a child answers, each with its argument and its answer. */
export type Questions = Readonly<Record<string, (argument: never) => unknown>>;

interface Reply {
  readonly id: number;
  readonly answer: unknown;
}

const FLAGS = ['--expose-gc', '--disable-warning=ExperimentalWarning'];
// On the same core each time, where the system lets us: a process that moves starts with cold caches.
const CAN_PIN = spawnSync('taskset', ['-V']).status === 0;

/** A process of its own for one variant; it listens on `port`. */
export class Child<Asked extends Questions> {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #waiting: Map<number, (answer: unknown) => void> = new Map();
  #asked = 0;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
    process.on('message', ({ id, answer }: Reply) => {
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    });
  }

  /** @param script Name of a module in `children`. */
  static async start<Asked extends Questions>(
    script: string,
    { imports = [], env = {} }: Setup = {},
    core = 0,
  ): Promise<Child<Asked>> {
    const path = fileURLToPath(new URL(`../children/${script}`, import.meta.url));
    const node = [process.execPath, ...FLAGS, ...imports.map((url) => `--import=${url}`), path];
    const [command = '', ...args] = CAN_PIN ? ['taskset', '-c', String(core), ...node] : node;
    const child = spawn(command, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, ...env },
    });
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`${script} ended with ${code} before it was ready`);
    });
    const [{ port }] = (await Promise.race([once(child, 'message'), failed])) as [{ port: number }];
    failed.catch(() => undefined);
    return new Child(child, port);
  }

  ask<Name extends keyof Asked & string>(
    question: Name,
    ...argument: Parameters<Asked[Name]>
  ): Promise<Awaited<ReturnType<Asked[Name]>>> {
    const id = ++this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, (answer) => resolve(answer as Awaited<ReturnType<Asked[Name]>>));
      this.#process.send({ id, question, argument: argument[0] });
    });
  }

  async stop(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}

/** The other side, inside a child: answers questions until the parent is gone. */
export function answer(port: number, questions: Questions): void {
  process.on('message', async (message) => {
    const { id, question, argument } = message as {
      id: number;
      question: string;
      argument: never;
    };
    const result = await questions[question]?.(argument);
    process.send?.({ id, answer: result });
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ port });
}

/** Bytes in use once nothing more can be collected. */
export function memoryNow(): { heap: number; external: number } {
  for (let i = 0; i < 4; i++) gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, external };
}
