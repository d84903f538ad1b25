import { setTimeout as sleep } from 'node:timers/promises';
import type { PassingStream } from './balancer.ts';
import type { BothEnds, Listener, Stage } from './stage.ts';
import { WINDOW } from './stage.ts';
import { within } from './within.ts';

/** How long a loop is kept busy before it counts as loaded: the probe looks back one second. */
const WARM_UP = 2_000;

/** Events in front of each drop, by which the client gets a cursor of its own. */
const BEFORE = 3;

export interface Step {
  /** Share of the time in which the server's event loop is busy. */
  readonly busy: number;
  /** Events that the server writes while the client is away. */
  readonly away: number;
}

/** The busier the service, the more happens while a client is away. */
export const STEPS: readonly Step[] = [
  { busy: 0, away: 40 },
  { busy: 0.75, away: 160 },
  { busy: 0.95, away: 500 },
];

export interface ShortWindow extends Step {
  readonly cursor: string;
  readonly status: number;
  readonly ends: BothEnds;
  /** Events that the client never got. */
  readonly lost: number;
}

/**
 * One instance, and it keeps 200 events for those who come back. While a client is away the balancer
 * goes on reading from the server, so the server writes to nobody, and remembers what it wrote.
 */
export async function overrunWindow(stage: Stage): Promise<readonly ShortWindow[]> {
  const { balancer } = stage;
  balancer.route = 0;
  const opened = balancer.nextStream();
  const listener = await stage.listener('mcp-client-2');
  const results: ShortWindow[] = [];
  let stream = await opened;
  for (const step of STEPS) {
    const { next, result } = await drop(stage, listener, stream, step);
    results.push(result);
    stream = next;
  }
  stage.servers[0]?.tell({ kind: 'busy', share: 0 });
  return results;
}

async function drop(
  { balancer, servers, verdicts }: Stage,
  listener: Listener,
  stream: PassingStream,
  { busy, away }: Step,
): Promise<{ readonly next: PassingStream; readonly result: ShortWindow }> {
  const [server] = servers;
  if (server === undefined) throw new TypeError('a server is needed');
  server.tell({ kind: 'busy', share: busy });
  await sleep(WARM_UP);
  const before = listener.heard('heard').length + BEFORE;
  server.tell({ kind: 'report', count: BEFORE });
  await listener.hasHeard(before);

  const resumed = balancer.nextStream();
  stream.cut('keep reading');
  server.tell({ kind: 'report', count: away });
  const next = await within(resumed, 'the client to come back');
  const replayed = Math.min(away, WINDOW);
  await listener.hasHeard(before + replayed);

  const { cursor = '', status } = next;
  const ends = await verdicts(listener, server, cursor);
  return { next, result: { busy, away, cursor, status, ends, lost: away - replayed } };
}
