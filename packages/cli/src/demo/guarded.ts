import type { Bill } from '@sameriver/guard';
import type { Stage } from './stage.ts';
import { within } from './within.ts';
import { LOST } from './wrong-instance.ts';

const BEFORE = 9;
const ELSEWHERE = 2;
/** Every task that either instance reports to the client. */
export const TASKS: number = BEFORE + ELSEWHERE + LOST;

export interface GuardedIncident {
  /** What the client was given to run, in order. */
  readonly heard: readonly string[];
  readonly bill: Bill;
  /** Events that the instances sent, those that came again included. */
  readonly sent: number;
}

/**
 * The first incident with a guarded client: to the instance that never had the session, and back to
 * the one that had it, with a cursor that means nothing there, so that it sends everything again.
 */
export async function resumeWithGuard(stage: Stage): Promise<GuardedIncident> {
  const { balancer, servers } = stage;
  const [a, b] = servers;
  if (a === undefined || b === undefined) throw new TypeError('two servers are needed');
  balancer.route = 0;
  const opened = balancer.nextStream();
  const listener = await stage.listener('mcp-client-guarded', 'guarded-client');
  a.tell({ kind: 'report', count: BEFORE });
  await listener.hasHeard(BEFORE);

  balancer.route = 1;
  const strayed = balancer.nextStream();
  (await opened).cut('close');
  a.tell({ kind: 'report', count: LOST });
  const elsewhere = await within(strayed, 'the guarded client to come back');
  b.tell({ kind: 'report', count: ELSEWHERE });
  await listener.hasHeard(BEFORE + ELSEWHERE);

  balancer.route = 0;
  elsewhere.cut('close');
  await listener.hasHeard(TASKS);
  listener.tell({ kind: 'bill' });
  const { bill } = await listener.hear('bill');
  if (bill === undefined) throw new TypeError('a guarded client answers with its bill');
  const heard = listener.heard('heard').map(({ text = '' }) => text);
  return { heard, bill, sent: TASKS + BEFORE };
}
