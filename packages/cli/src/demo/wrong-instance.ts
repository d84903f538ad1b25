import type { BothEnds, Listener, Stage } from './stage.ts';
import { within } from './within.ts';

/** Events that instance A reports while nobody listens; instance B knows nothing of them. */
export const LOST = 22;

export const CURSOR = '4118';

/** What the client could see of its own reconnect, and what was found out. */
export interface WrongInstance {
  readonly listener: Listener;
  readonly status: number;
  /** What it heard after it had come back. */
  readonly heard: readonly string[];
  /** What it was told of errors, the drop included. */
  readonly errors: readonly string[];
  readonly ends: BothEnds;
}

/**
 * A client resumes at 4118, and the balancer, which knows no sessions, sends it to the instance
 * whose own numbering stands at 12. That one takes the session over and goes on.
 */
export async function resumeOnWrongInstance(stage: Stage): Promise<WrongInstance> {
  const { balancer, servers, verdicts } = stage;
  const [a, b] = servers;
  if (a === undefined || b === undefined) throw new TypeError('two servers are needed');
  balancer.route = 0;
  const opened = balancer.nextStream();
  const listener = await stage.listener('mcp-client-1');
  a.tell({ kind: 'report', count: 9 });
  await listener.hasHeard(9);

  balancer.route = 1;
  const resumed = balancer.nextStream();
  (await opened).cut('close');
  a.tell({ kind: 'report', count: LOST });
  const { status } = await within(resumed, 'the client to come back');
  b.tell({ kind: 'report', count: 2 });
  await listener.hasHeard(11);

  const ends = await verdicts(listener, b, CURSOR);
  const heard = listener.heard('heard').map(({ text = '' }) => text);
  const errors = listener.heard('error').map(({ message = '' }) => message);
  return { listener, status, heard: heard.slice(9), errors, ends };
}
