import type { Balancer } from './balancer.ts';
import { startBalancer } from './balancer.ts';
import type { Cast, Player, Program } from './cast.ts';
import { createCast } from './cast.ts';
import type { ReceivedSpan, SpanInbox } from './span-inbox.ts';
import { startSpanInbox } from './span-inbox.ts';
import { within } from './within.ts';

/** The events an instance keeps for those who come back. */
export const WINDOW = 200;

/** What each end of one connection found out. */
export interface BothEnds {
  readonly client: ReceivedSpan;
  readonly server: ReceivedSpan;
}

/** Two servers, a balancer in front of them, and whoever listens. */
export interface Stage {
  readonly servers: readonly Player[];
  readonly balancer: Balancer;
  readonly inbox: SpanInbox;
  /** Everybody who has been started. */
  players(): readonly Player[];
  /** A client that has connected to the balancer and whose event stream is open. */
  listener(service: string, program?: 'mcp-client' | 'guarded-client'): Promise<Listener>;
  /** Starts somebody who does not go through the balancer. */
  extra(service: string, program: Program, args: readonly string[]): Promise<Player>;
  /** The verdicts on the reconnect that a client makes with this cursor. */
  verdicts(listener: Listener, server: Player, cursor: string): Promise<BothEnds>;
  clear(): Promise<void>;
}

export interface Listener extends Player {
  /** Waits until it has heard so many events in all. */
  hasHeard(count: number): Promise<void>;
}

/**
 * @param copyTo An OTLP endpoint that shall get all spans too.
 * @param targetsFile Where to write which ports Prometheus may scrape.
 */
export async function setStage(
  copyTo: string | undefined,
  targetsFile: string | undefined,
): Promise<Stage> {
  const inbox = await startSpanInbox(copyTo);
  const balancer = await startBalancer();
  const cast = createCast(inbox.endpoint, targetsFile);
  const clear = async (): Promise<void> => {
    await cast.end();
    await Promise.all([balancer.close(), inbox.close()]);
  };
  try {
    const servers = await Promise.all([server(cast, 'A', 4107), server(cast, 'B', 12)]);
    const players = [...servers];
    for (const player of servers) balancer.servers.push((await player.hear('ready')).port ?? 0);
    return {
      servers,
      balancer,
      inbox,
      clear,
      players: () => players,
      listener: async (service, program = 'mcp-client') => {
        const listener = await listen(cast, balancer, service, program);
        players.push(listener);
        return listener;
      },
      extra: async (service, program, args) => {
        const player = await cast.start(service, program, args);
        players.push(player);
        return player;
      },
      verdicts: (listener, player, cursor) => verdicts(inbox, listener, player, cursor),
    };
  } catch (error) {
    await clear();
    throw error;
  }
}

function server(cast: Cast, instance: string, lastId: number): Promise<Player> {
  const args = [instance, String(lastId), String(WINDOW)];
  return cast.start(`mcp-server-${instance.toLowerCase()}`, 'mcp-server', args);
}

async function listen(
  cast: Cast,
  balancer: Balancer,
  service: string,
  program: Program,
): Promise<Listener> {
  const open = balancer.nextStream();
  const player = await cast.start(service, program, [`${balancer.origin}/mcp`]);
  await within(open, `the event stream of ${service}`);
  return {
    ...player,
    hasHeard: async (count) => {
      await player.hear('heard', () => player.heard('heard').length >= count);
    },
  };
}

async function verdicts(
  inbox: SpanInbox,
  listener: Player,
  server: Player,
  cursor: string,
): Promise<BothEnds> {
  const verdictOf = (service: string, name: string): Promise<ReceivedSpan> => {
    const verdict = inbox.find(
      (span) =>
        span.service === service &&
        span.name === name &&
        span.attributes['event_stream.classification'] !== undefined &&
        span.attributes['event_stream.cursor.requested'] === cursor,
    );
    return within(verdict, `the span "${name}" of ${service}`);
  };
  const [atClient, atServer] = await Promise.all([
    verdictOf(listener.service, 'sse connect'),
    verdictOf(server.service, 'sse accept'),
  ]);
  return { client: atClient, server: atServer };
}
