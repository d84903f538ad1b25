import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { logServer, redisServer } from '@sameriver/testkit';
import type { Kind } from './world.ts';
import { World } from './world.ts';

type LedgerKind = 'sqlite' | 'redis';

export interface KillOptions {
  readonly ledger: LedgerKind;
  readonly kind: Kind;
  readonly kills: number;
  readonly seed: number;
  /** It answers falsely what became of an effect, which must be found. */
  readonly lies?: boolean;
}

export interface KillReport {
  readonly kills: number;
  /** Processes that were started. */
  readonly lives: number;
  readonly events: number;
  /** How often a violation stopped the consumer, by its reason. */
  readonly violations: Readonly<Record<string, number>>;
  /** Events that were gone, and had been told to be. */
  readonly announced: number;
  /** What is wrong, a line each. */
  readonly wrong: readonly string[];
}

type Answer = 'throw' | 'look' | 'lie' | 'confirm' | 'forget';

interface Life {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly violation: { readonly reason: string; readonly standing: string } | undefined;
}

const CONSUMER = fileURLToPath(new URL('consumer.ts', import.meta.url));
/** Steps of work after which a consumer ends itself at the latest; an event takes ten of them. */
const STEPS = 80;
/** Milliseconds from its first event after which it is killed from outside at the latest. */
const SOON = 30;
/** Milliseconds without an event from its start, and between two, after which it has nothing to do. */
const IDLE_START = 2_000;
const IDLE = 100;
/** Milliseconds after which a life that nothing ended is stuck. */
const PATIENCE = 60_000;

/** Kills a consumer again and again, at points of its work and at any moment, and counts effects. */
export async function killConsumer({
  ledger,
  kind,
  kills,
  seed,
  lies = false,
}: KillOptions): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sameriver-kill-'));
  const effects = join(folder, 'effects');
  for (const file of [effects, `${effects}.told`]) writeFileSync(file, '');
  const server = await logServer();
  const redis = ledger === 'redis' ? await redisServer({ dir: folder }) : undefined;
  const where = redis === undefined ? join(folder, 'ledger.db') : `${redis.url}/soak:`;
  const random = mulberry32(seed);
  const world = new World(kind, server, effects, random);
  const violations: Record<string, number> = {};
  const live = (answer: Answer, step: number, kill: Kill | undefined): Promise<Life> =>
    liveOnce([server.url, where, effects, answer, String(step)], kill);
  const look: Answer = lies ? 'lie' : 'look';
  let [killed, lives] = [0, 0];
  let answer: Answer = 'throw';
  const count = ({ violation, signal, code }: Life): void => {
    lives += 1;
    if (kind === 'keyed') world.hear();
    if (signal === 'SIGKILL') killed += 1;
    else if (code !== 0) throw new Error(`the consumer ended with ${code ?? signal}`);
    if (violation === undefined) {
      answer = random() < 0.5 ? 'throw' : look;
      return;
    }
    violations[violation.reason] = (violations[violation.reason] ?? 0) + 1;
    world.announce();
    answer = answerTo(violation) ?? look;
  };
  try {
    while (killed < kills) {
      world.turn();
      const isFromOutside = random() < 0.5;
      const step = isFromOutside ? 0 : 1 + Math.floor(random() * STEPS);
      count(
        await live(
          answer,
          step,
          isFromOutside ? { afterFirst: random() * SOON } : { afterLast: IDLE },
        ),
      );
    }
    world.last();
    for (let tries = 0; tries < 8; tries++) {
      const life = await live(answer === 'throw' ? look : answer, 0, undefined);
      count(life);
      if (life.violation === undefined) break;
    }
    const { made: events, announced } = world;
    return { kills: killed, lives, events, violations, announced, wrong: world.verify() };
  } finally {
    await server.close();
    await redis?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What somebody who reads the violation does before the next start; to look is all else. */
function answerTo({ reason, standing }: { reason: string; standing: string }): Answer | undefined {
  if (standing === 'reoriginated') return 'forget';
  return reason === 'unverifiable' ? 'confirm' : undefined;
}

/** When a consumer is killed from outside, in milliseconds. */
interface Kill {
  /** After its first event. */
  readonly afterFirst?: number;
  /** After the last one that it had to apply. */
  readonly afterLast?: number;
}

/** @param kill Without it the consumer is let live. */
async function liveOnce(args: readonly string[], kill: Kill | undefined): Promise<Life> {
  const child = fork(CONSUMER, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const end = (): void => void child.kill('SIGKILL');
  const stuck = setTimeout(() => child.kill('SIGABRT'), PATIENCE);
  // There may be nothing to apply, and then it would wait for ever.
  let idle = kill && setTimeout(end, IDLE_START);
  let violation: Life['violation'];
  let isDoomed = false;
  child.on('message', (message: { violation?: string; standing?: string }) => {
    const { violation: reason, standing = '' } = message;
    if (reason !== undefined) violation = { reason, standing };
    if (kill === undefined || isDoomed) return;
    isDoomed = kill.afterFirst !== undefined;
    clearTimeout(idle);
    idle = setTimeout(end, kill.afterFirst ?? kill.afterLast);
  });
  const [code, signal] = await ended(child);
  clearTimeout(stuck);
  clearTimeout(idle);
  return { code, signal, violation };
}

function ended(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve([code, signal]));
  });
}

/** Numbers from 0 to 1 that one seed always gives alike. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
