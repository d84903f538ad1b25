import type { IncomingMessage, ServerResponse } from 'node:http';
import { loopback } from './loopback.ts';

/** One event of a log that is served as server-sent events. */
export interface LogEvent {
  readonly id: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a server says in its `Stream-Continuity` header, and what it does. */
export interface LogBehaviour {
  /** Name of the log; another one after a restart that lost it. */
  gen: string;
  /** Number of its first event. */
  firstId: number;
  /** Events at the front that are no longer there. */
  evicted: number;
  /**
   * `echo`: the cursor is named as the resume point where it is. `event`: in an event before all
   * others, too. `none`: not at all.
   */
  stamp: 'echo' | 'event' | 'none';
  /** The cursor is ignored: the whole log comes, or only what happens from now on. */
  ignoresCursor: false | 'replays all' | 'live only';
  /** Answers with this status instead of a stream. */
  status: number | undefined;
}

/** A log behind `GET /feed`: its events are numbered, and it continues after a cursor of its own. */
export interface LogServer {
  readonly url: string;
  readonly behaviour: LogBehaviour;
  readonly log: readonly LogEvent[];
  /** The cursor of each request so far. */
  readonly cursors: ReadonlyArray<string | undefined>;
  append(...data: readonly Readonly<Record<string, unknown>>[]): void;
  /** The log is gone, and another one begins. */
  restart(gen: string, firstId?: number): void;
  /** Breaks every connection in the middle. */
  cut(): void;
  /** Resolves when so many requests have come in all. */
  untilAsked(count: number): Promise<void>;
  close(): Promise<void>;
}

/** @throws Error of `node:net` when the loopback interface cannot be listened on. */
export async function logServer(): Promise<LogServer> {
  const behaviour: LogBehaviour = {
    gen: 'g1',
    firstId: 1,
    evicted: 0,
    stamp: 'echo',
    ignoresCursor: false,
    status: undefined,
  };
  const log: LogEvent[] = [];
  const cursors: Array<string | undefined> = [];
  const readers = new Set<ServerResponse>();
  let waiting: Array<() => void> = [];
  const server = await loopback((request, response) => {
    const cursor = cursorOf(request);
    cursors.push(cursor);
    answer(response, { behaviour, log, cursor });
    if (response.writableEnded === false) readers.add(response);
    response.on('close', () => readers.delete(response));
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  });
  return {
    url: `${server.origin}/feed`,
    behaviour,
    log,
    cursors,
    append: (...all) => {
      for (const data of all) {
        const event = { id: behaviour.firstId + log.length, data };
        log.push(event);
        for (const reader of readers) reader.write(frameOf(event));
      }
    },
    restart: (gen, firstId = 1) => {
      log.length = 0;
      Object.assign(behaviour, { gen, firstId, evicted: 0 });
    },
    cut: () => {
      for (const reader of readers) reader.destroy();
      readers.clear();
    },
    untilAsked: async (count) => {
      while (cursors.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    close: server.close,
  };
}

interface Answer {
  readonly behaviour: LogBehaviour;
  readonly log: readonly LogEvent[];
  readonly cursor: string | undefined;
}

function answer(response: ServerResponse, { behaviour, log, cursor }: Answer): void {
  const { status, stamp, ignoresCursor, evicted, firstId } = behaviour;
  if (status !== undefined) {
    response.writeHead(status).end();
    return;
  }
  const place = cursor === undefined ? 0 : Number(cursor) - firstId + 1;
  const isOwn = place >= 0 && place <= log.length;
  const after = ignoresCursor || !isOwn ? 0 : place;
  const isThere = cursor !== undefined && isOwn && place >= evicted;
  const said = stampOf(behaviour, log, cursor, isThere);
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    ...(stamp !== 'none' && { 'stream-continuity': fieldOf(said) }),
  });
  response.flushHeaders();
  if (stamp === 'event') {
    response.write(`event: stream-continuity\ndata: ${JSON.stringify(said)}\n\n`);
  }
  if (ignoresCursor === 'live only') return;
  for (const event of log.slice(Math.max(after, evicted))) response.write(frameOf(event));
}

function stampOf(
  { gen, evicted, ignoresCursor, firstId }: LogBehaviour,
  { length }: readonly LogEvent[],
  cursor: string | undefined,
  isThere: boolean,
): Readonly<Record<string, string | true>> {
  return {
    gen,
    oldest: String(firstId + evicted),
    newest: String(firstId + length - 1),
    dense: true,
    ...(cursor !== undefined && { received: cursor }),
    ...(cursor !== undefined && isThere && !ignoresCursor && { status: 'resumed', from: cursor }),
  };
}

function fieldOf(said: Readonly<Record<string, string | true>>): string {
  const members = Object.entries(said).map(([key, value]) => {
    if (value === true) return key;
    return key === 'status' ? `status=${value}` : `${key}="${value}"`;
  });
  return members.join(', ');
}

function cursorOf({ headers }: IncomingMessage): string | undefined {
  const cursor = headers['last-event-id'];
  return typeof cursor === 'string' ? cursor : undefined;
}

function frameOf({ id, data }: LogEvent): string {
  return `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}
