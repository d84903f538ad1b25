import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Verdict } from '@sameriver/core';

const FIXTURE = fileURLToPath(new URL('../fixtures/server.mjs', import.meta.url));

export interface InstanceOptions {
  readonly sdk: 1 | 2;
  readonly port: number;
  /** The number of the event before its first one. Default 0. */
  readonly start?: number;
  /** Events that it keeps. Default 1,000. */
  readonly window?: number;
  /** Takes over sessions that it does not know. Default: refuses them. */
  readonly adopts?: boolean;
  /** Its event store says how it continues. */
  readonly proves: boolean;
  /** Through which it tells others what it issued. */
  readonly redis?: string;
  /** How it is called there. */
  readonly name?: string;
}

export type Judged = Verdict & { readonly missed: number | 'unknown' };

/** One instance of an MCP service, in a process of its own. */
export class Instance {
  readonly verdicts: Judged[] = [];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: { kind: string; verdict: Judged }) => {
      if (message.kind === 'verdict') this.verdicts.push(message.verdict);
    });
  }

  static async start({
    start = 0,
    window = 1000,
    adopts = false,
    name = 'unnamed',
    ...rest
  }: InstanceOptions) {
    const options = JSON.stringify({ start, window, adopts, ...rest });
    // The published build, as a deployment runs it.
    const child = fork(FIXTURE, [options], {
      execArgv: [],
      env: { ...process.env, OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${name}` },
    });
    const instance = new Instance(child);
    await instance.#hears('ready');
    return instance;
  }

  async notify(...texts: string[]): Promise<void> {
    const notified = this.#hears('notified');
    this.#child.send({ kind: 'notify', texts });
    await notified;
  }

  /** Breaks the connections that carry its streams. */
  cut(): void {
    this.#child.send({ kind: 'cut' });
  }

  /** It is gone, as by `kill -9`. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  async #hears(kind: string): Promise<void> {
    const child = this.#child;
    await new Promise<void>((resolve, reject) => {
      const settle = (act: () => void): void => {
        child.off('message', onMessage).off('exit', onExit);
        act();
      };
      const onMessage = (heard: { kind: string }): void => {
        if (heard.kind === kind) settle(resolve);
      };
      const onExit = (code: number | null): void => {
        settle(() => reject(new Error(`the instance ended (${code}) before it was ${kind}`)));
      };
      child.on('message', onMessage).on('exit', onExit);
    });
  }
}
