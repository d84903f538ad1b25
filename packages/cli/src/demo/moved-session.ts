import type { Finding } from './findings.ts';
import { findingOf } from './findings.ts';
import type { SpanInbox } from './span-inbox.ts';
import type { Stage } from './stage.ts';
import { within } from './within.ts';

/** What a server does with a session that moves from an event stream to a WebSocket. */
const WAYS = ['replays', 'refuses', 'loses'] as const;
export type Way = (typeof WAYS)[number];

export interface Move {
  readonly way: Way;
  /** What the upgrade was answered with. */
  readonly status: number;
  /** Of the frames that came over the WebSocket. */
  readonly ids: readonly number[];
  /** Of the client and of the server. */
  readonly found: readonly Finding[];
}

/**
 * A client reads the events 1 to 10, leaves its event stream, and asks for a WebSocket with the
 * cursor 10; the server has put 11 to 13 into its ring meanwhile. Once for each kind of server.
 */
export async function moveSessions(stage: Stage): Promise<readonly Move[]> {
  const starting = WAYS.map((way) => stage.extra(`session-${way}`, 'session-server', [way]));
  const client = await stage.extra('session-client', 'session-client', []);
  const servers = await Promise.all(starting);
  await client.hear('ready');
  const told = new Set<string>();
  const moves: Move[] = [];
  for (const [index, way] of WAYS.entries()) {
    const server = servers[index];
    if (server === undefined) throw new TypeError('a server for each way is needed');
    const { port } = await server.hear('ready');
    const session = `http://127.0.0.1:${port}/session/${way}`;
    client.tell({ kind: 'read', session });
    await server.hear('away');
    client.tell({ kind: 'move', session });
    await client.hear('moved', () => client.heard('moved').length > index);
    const { status = 0, ids = [] } = client.heard('moved')[index] ?? {};
    const found = await Promise.all([
      findMove(stage.inbox, 'client', client.service, told),
      findMove(stage.inbox, 'server', server.service, told),
    ]);
    moves.push({ way, status, ids, found });
  }
  return moves;
}

/** The span of a move says what became of it, one of the same trace what the verdict was. */
async function findMove(
  inbox: SpanInbox,
  role: 'client' | 'server',
  service: string,
  told: Set<string>,
): Promise<Finding> {
  const key = (traceId: string): string => `${service} ${traceId}`;
  const move = await within(
    inbox.find(
      (span) =>
        span.service === service && span.name === 'stream migrate' && !told.has(key(span.traceId)),
    ),
    `the span "stream migrate" of ${service}`,
  );
  told.add(key(move.traceId));
  const verdict = await within(
    inbox.find(
      (span) =>
        span.service === service &&
        span.traceId === move.traceId &&
        span.attributes['event_stream.classification'] !== undefined,
    ),
    `the verdict of ${service} on its move`,
  );
  const outcome = String(move.attributes['event_stream.migration.outcome']);
  return { ...findingOf(role, verdict), outcome };
}
