import type { Terminal } from '../terminal.ts';
import type { Expected } from './findings.ts';
import type { Way } from './moved-session.ts';
import { moveSessions } from './moved-session.ts';
import { heading, lines, table } from './pages.ts';
import type { Stage } from './stage.ts';

type Right = Pick<Expected, 'classification' | 'reason' | 'missed' | 'outcome'>;

/** What each end can prove. A server knows what it holds in its ring, but wrote it to nobody. */
const RIGHT: Readonly<Record<Way, readonly [client: Right, server: Right]>> = {
  replays: [
    { classification: 'resumed', reason: 'next_in_sequence', missed: '0', outcome: 'replayed' },
    { classification: 'unverifiable', reason: 'no_window', missed: '0', outcome: 'replayed' },
  ],
  refuses: [
    { classification: 'refused', reason: 'cursor_conflict', missed: '0', outcome: 'refused' },
    { classification: 'refused', reason: 'cursor_conflict', missed: '0', outcome: 'refused' },
  ],
  loses: [
    { classification: 'reoriginated', reason: 'window_exceeded', missed: '3', outcome: 'lossy' },
    { classification: 'unverifiable', reason: 'no_window', missed: '3', outcome: 'lossy' },
  ],
};

const HEAD = ['server', 'answer', 'frames', 'end', 'outcome', 'missed', 'verdict', 'reason'];

/** Plays and tells how sessions move from an event stream to a WebSocket. */
export async function tellMoves(
  stage: Stage,
  number: number,
  terminal: Terminal,
): Promise<Expected[]> {
  terminal.out(heading(`${number}  The session moves to a WebSocket`, terminal));
  terminal.out(
    lines(
      'A client has processed the events 1 to 10 and asks to go on over a WebSocket, cursor 10. While it',
      'changes over, 11, 12 and 13 go into the ring. Three servers: one replays the ring first, one',
      'refuses with 409 because its ring holds too little, one attaches the client to the live tail.',
      '',
    ),
  );
  const moves = await moveSessions(stage);
  const rows = moves.flatMap(({ way, status, ids, found }) =>
    found.map(({ role, outcome = 'unknown', missed, classification, reason }) => [
      ...(role === 'client' ? [way, String(status), ids.join(' ') || '-'] : ['', '', '']),
      role,
      outcome,
      missed,
      classification,
      reason,
    ]),
  );
  terminal.out(table(HEAD, rows, terminal));
  terminal.out(
    lines(
      'What the client of the last one believed: status 202, an open WebSocket, numbers that rise. No',
      'error, no duplicate, no disorder: a hole.',
    ),
  );
  return moves.flatMap(({ way, found }) =>
    found.map((each, end) => {
      const right = RIGHT[way][end === 0 ? 0 : 1];
      return { what: `move to a server that ${way}`, found: each, ...right };
    }),
  );
}
