import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Role, Verdict } from '@sameriver/core';
import { freePort } from '@sameriver/testkit';
import { positionsIn, seeded } from './feed.ts';
import type { Position, Truth } from './ground-truth.ts';
import { faultOf, isCollision, judgeTruth } from './ground-truth.ts';
import { startHaproxy, untilOpen } from './haproxy.ts';
import { CONNECTION_HEADER, watchVerdicts } from './watch.ts';

export interface ChaosOptions {
  readonly milliseconds: number;
  readonly readers: number;
  readonly seed: number;
}

export interface ChaosResult {
  readonly kills: number;
  readonly reconnects: number;
  readonly truths: Readonly<Partial<Record<Truth, number>>>;
  readonly verdicts: Readonly<Record<string, number>>;
  /** Re-originations that nothing on the wire showed. */
  readonly unprovable: number;
  /** Cursors of another instance that an instance found in its own log. */
  readonly collisions: number;
  readonly faults: readonly string[];
}

const INSTANCES = 3;
/** Milliseconds between two kills, and how long a connection is read at most. */
const KILL_EVERY = 400;
const LONGEST_READ = 1500;
const WORLDS = ['shared', 'private', 'stamped'] as const;

/** Kills instances behind a real HAProxy while readers come back, and compares every verdict. */
export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const said = new Map<string, Partial<Record<Role, Verdict>>>();
  const hear = (connection: string, role: Role, verdict: Verdict): void => {
    said.set(connection, { ...said.get(connection), [role]: verdict });
  };
  const [front = 0, ...ports] = await Promise.all(
    Array.from({ length: INSTANCES + 1 }, () => freePort()),
  );
  const fleet = new Fleet(ports, hear);
  await fleet.startAll();
  const balancer = await startHaproxy(front, ports);
  const watch = watchVerdicts(hear);
  const until = performance.now() + options.milliseconds;
  const reads = Array.from({ length: options.readers }, (_, n) =>
    readUntil(until, `http://127.0.0.1:${front}/${WORLDS[n % WORLDS.length]}/${n}`, `${n}`),
  );
  const kills = await fleet.killUntil(until, seeded(options.seed));
  const reconnects = (await Promise.all(reads)).flat();
  await fleet.close();
  watch.disable();
  await balancer.close();
  return compare(reconnects, said, kills);
}

interface Came {
  readonly connection: string;
  readonly asked: Position;
  readonly first: Position | undefined;
  readonly stamped: boolean;
}

function compare(
  reconnects: readonly Came[],
  said: ReadonlyMap<string, Partial<Record<Role, Verdict>>>,
  kills: number,
): ChaosResult {
  const truths: Partial<Record<Truth, number>> = {};
  const verdicts: Record<string, number> = {};
  const faults: string[] = [];
  let unprovable = 0;
  let collisions = 0;
  for (const { connection, asked, first, stamped } of reconnects) {
    const reconnect = judgeTruth(asked, first, stamped);
    const heard = said.get(connection) ?? {};
    truths[reconnect.truth] = (truths[reconnect.truth] ?? 0) + 1;
    for (const [role, { classification, reason }] of Object.entries(heard)) {
      const name = `${role} ${classification}/${reason}`;
      verdicts[name] = (verdicts[name] ?? 0) + 1;
    }
    if (reconnect.truth === 'other_log' && !reconnect.provable) unprovable += 1;
    const collides = isCollision(reconnect, heard);
    if (collides) collisions += 1;
    const fault = faultOf(reconnect, collides ? { ...heard, server: undefined } : heard);
    if (fault !== undefined) {
      faults.push(
        `${fault}: ${connection} ${JSON.stringify({ asked, first, ...reconnect, heard })}`,
      );
    }
  }
  return { kills, reconnects: reconnects.length, truths, verdicts, unprovable, collisions, faults };
}

/** An application that reads one feed and comes back whenever it is dropped, or has had enough. */
async function readUntil(until: number, url: string, name: string): Promise<Came[]> {
  const came: Came[] = [];
  const random = seeded(Number(name) + 100);
  let last: Position | undefined;
  for (let count = 1; performance.now() < until; count += 1) {
    const connection = `${name}-${count}`;
    const headers: Record<string, string> = {
      accept: 'text/event-stream',
      [CONNECTION_HEADER]: connection,
    };
    if (last !== undefined) headers['last-event-id'] = String(last.n);
    const signal = AbortSignal.timeout(50 + Math.floor(random() * LONGEST_READ));
    const asked = last;
    const answer = await readOnce(url, headers, signal);
    if (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    else if (asked !== undefined) {
      came.push({ connection, asked, first: answer.seen[0], stamped: answer.stamped });
    }
    last = answer?.seen.at(-1) ?? last;
  }
  return came;
}

/** `undefined` when there was no stream: the balancer found nobody, or refused. */
async function readOnce(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<{ readonly seen: Position[]; readonly stamped: boolean } | undefined> {
  let response: Response;
  try {
    response = await fetch(url, { headers, signal });
  } catch {
    return undefined;
  }
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
  } catch {
    // Killed, or left.
  }
  if (!response.ok) return undefined;
  return { seen: positionsIn(text), stamped: response.headers.has('stream-continuity') };
}

/** The instances, each in a process of its own that is killed and begins anew on its port. */
class Fleet {
  readonly #ports: readonly number[];
  readonly #hear: (connection: string, role: Role, verdict: Verdict) => void;
  readonly #running = new Map<number, ChildProcess>();
  #boots = 0;

  constructor(
    ports: readonly number[],
    hear: (connection: string, role: Role, verdict: Verdict) => void,
  ) {
    this.#ports = ports;
    this.#hear = hear;
  }

  async startAll(): Promise<void> {
    await Promise.all(this.#ports.map((port) => this.#start(port)));
  }

  /** One after the other, at random; the next is killed when the last one lives again. */
  async killUntil(until: number, random: () => number): Promise<number> {
    let kills = 0;
    while (performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, KILL_EVERY));
      const port = this.#ports[Math.floor(random() * this.#ports.length)] ?? 0;
      await this.#kill(port);
      kills += 1;
      await this.#start(port);
    }
    return kills;
  }

  async close(): Promise<void> {
    for (const port of [...this.#running.keys()]) await this.#kill(port);
  }

  async #start(port: number): Promise<void> {
    this.#boots += 1;
    const program = join(import.meta.dirname, 'children/backend.ts');
    const flags = ['--disable-warning=ExperimentalWarning', ...process.execArgv];
    const child = spawn(process.execPath, [...flags, program, String(port), `b${this.#boots}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#running.set(port, child);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { connection, verdict } = JSON.parse(line) as { connection: string; verdict: Verdict };
      this.#hear(connection, 'server', verdict);
    });
    await untilOpen(port, child);
  }

  async #kill(port: number): Promise<void> {
    const child = this.#running.get(port);
    this.#running.delete(port);
    if (child === undefined) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  }
}
