import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Role, Verdict } from '@sameriver/core';
import type { SessionServer } from '@sameriver/testkit';
import { loopback, sessionProfile, startSessionServer } from '@sameriver/testkit';
import { cursorOf, eventText, Feed, openStream, positionsIn, seeded } from './feed.ts';
import type { Fault, Position, Truth } from './ground-truth.ts';
import { faultOf, judgeTruth } from './ground-truth.ts';
import { CONNECTION_HEADER, watchVerdicts } from './watch.ts';

/** What a server does with a reader that comes back, as the reader asks it to. */
const ACTS = {
  /** Replays and goes on. */
  resume: 50,
  /** The log begins anew. */
  restart: 12,
  /** The reader is behind what it was sent, and gets what is new. */
  lag: 8,
  refuse: 5,
  /** The connection breaks in the middle. */
  cut: 15,
  /** The reader leaves in the middle. */
  leave: 10,
} as const;
type Act = keyof typeof ACTS;

export interface ChurnOptions {
  readonly connections: number;
  /** Readers at a time, each of a feed of its own. */
  readonly readers: number;
  readonly seed: number;
  /** When to stop, by `performance.now()`, however many there were by then. */
  readonly until?: number;
  /** Called about every `checkpointEvery` connections, while nothing is open. */
  readonly checkpoint: (done: number) => void;
  readonly checkpointEvery: number;
}

export interface ChurnResult {
  readonly connections: number;
  readonly migrations: number;
  readonly truths: Readonly<Partial<Record<Truth | 'refused', number>>>;
  /** Verdicts of both ends, `client resumed` and so on. */
  readonly verdicts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
  /** Re-originations that nothing on the wire showed; none of them may be called resumed. */
  readonly unprovable: number;
  /** Readers that missed events of one log, which neither end could prove. */
  readonly silentLosses: number;
}

const MOST_FAULTS = 20;
const MIGRATIONS = 20;

/** Connects, resumes, re-originates, migrates, refuses and breaks off, and compares every verdict. */
export async function churn(options: ChurnOptions): Promise<ChurnResult> {
  const tally = new Tally();
  const watch = watchVerdicts((name, role, verdict) => tally.hear(name, role, verdict), {
    profiles: [sessionProfile],
  });
  const world = new World(options.seed);
  const { origin, close } = await loopback((request, response) => world.answer(request, response));
  const readers = Array.from(
    { length: options.readers },
    (_, n) => new Reader(`${origin}/feed/${n}`, `${n}`, seeded(options.seed + n), tally),
  );
  try {
    const { until = Number.POSITIVE_INFINITY } = options;
    while (tally.connections < options.connections && performance.now() < until) {
      const rounds = Math.ceil(options.checkpointEvery / options.readers);
      await Promise.all(readers.map((reader) => reader.run(rounds)));
      await migrate(tally);
      tally.settle();
      options.checkpoint(tally.connections);
    }
  } finally {
    watch.disable();
    await close();
  }
  return tally.result();
}

/** The server: feeds whose incarnations change when a reader asks for it. */
class World {
  readonly #feeds = new Map<string, Feed>();
  readonly #random: () => number;
  #incarnations = 0;

  constructor(seed: number) {
    this.#random = seeded(seed);
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    const act = request.headers['x-act'] as Act;
    const cursor = cursorOf(request);
    if (act === 'refuse') {
      response.writeHead(410).end();
      return;
    }
    const known = act === 'restart' ? undefined : this.#feeds.get(path);
    const feed = known ?? this.#begin(path);
    // Published while nobody was there.
    if (this.#random() < 0.3) feed.publish();
    const replay = act === 'lag' || cursor === undefined ? [] : (feed.after(cursor) ?? []);
    // Every other feed names its log.
    const isStamped = Number(path.at(-1)) % 2 === 0;
    const honours = act !== 'lag' && known !== undefined && cursor !== undefined;
    openStream(response, isStamped ? feed.log : undefined, honours ? cursor : undefined);
    for (const n of replay) response.write(eventText({ log: feed.log, n }));
    for (let more = 3; more > 0; more -= 1) {
      response.write(eventText({ log: feed.log, n: feed.publish() }));
    }
    if (act === 'cut') setImmediate(() => response.destroy());
    else if (act !== 'leave') response.end();
  }

  #begin(path: string): Feed {
    this.#incarnations += 1;
    const feed = new Feed(`log-${this.#incarnations}`);
    this.#feeds.set(path, feed);
    return feed;
  }
}

/** One application that reads one feed and comes back, again and again. */
class Reader {
  readonly #url: string;
  readonly #name: string;
  readonly #random: () => number;
  readonly #tally: Tally;
  #last: Position | undefined;
  #count = 0;

  constructor(url: string, name: string, random: () => number, tally: Tally) {
    this.#url = url;
    this.#name = name;
    this.#random = random;
    this.#tally = tally;
  }

  async run(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) await this.#connect();
  }

  async #connect(): Promise<void> {
    const act = this.#last === undefined ? 'resume' : pick(this.#random());
    // Not told apart from a reader that lost events on the way.
    const behind = act === 'lag' && this.#last !== undefined ? Math.min(2, this.#last.n - 1) : 0;
    const asked = this.#last && { ...this.#last, n: this.#last.n - behind };
    this.#count += 1;
    const connection = `${this.#name}-${this.#count}`;
    const headers: Record<string, string> = {
      accept: 'text/event-stream',
      [CONNECTION_HEADER]: connection,
      'x-act': act,
    };
    if (asked !== undefined) headers['last-event-id'] = String(asked.n);
    const control = new AbortController();
    const response = await fetch(this.#url, { headers, signal: control.signal });
    const seen = response.ok ? positionsIn(await readText(response, act, control)) : [];
    await response.body?.cancel().catch(() => {});
    const stamped = response.headers.has('stream-continuity');
    this.#tally.note(connection, act === 'refuse', asked, seen[0], stamped);
    this.#last = seen.at(-1) ?? this.#last;
  }
}

function pick(random: number): Act {
  let left = random * 100;
  for (const [act, weight] of Object.entries(ACTS)) {
    left -= weight;
    if (left < 0) return act as Act;
  }
  return 'resume';
}

async function readText(response: Response, act: Act, control: AbortController): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const part of response.body ?? []) {
      text += decoder.decode(part, { stream: true });
      if (act === 'leave' && text.includes('\n\n')) control.abort();
    }
  } catch {
    // It was cut, or we have left.
  }
  return text;
}

/** Streams that move from SSE to a WebSocket with their cursor, on a server of their own. */
async function migrate(tally: Tally): Promise<void> {
  for (const onUpgrade of ['replay', 'lose'] as const) {
    const server = await startSessionServer({ onUpgrade });
    for (let n = 0; n < MIGRATIONS / 2; n += 1) {
      await moveOne(server, `${onUpgrade}-${n}`);
      tally.migrated();
    }
    await server.close();
  }
}

async function moveOne(server: SessionServer, session: string): Promise<void> {
  const feed = new AbortController();
  const { body } = await fetch(`${server.origin}/session/${session}/events`, {
    signal: feed.signal,
  });
  server.emit(session, 3);
  const reader = body?.getReader();
  await reader?.read();
  feed.abort();
  await reader?.read().catch(() => {});
  await server.untilReleased(session);
  server.emit(session, 1);
  const url = `${server.origin.replace('http', 'ws')}/session/${session}/ws?last_event_id=3`;
  const socket = new WebSocket(url);
  socket.onopen = () => server.emit(session, 1);
  await new Promise((resolve) => {
    socket.onmessage = resolve;
    socket.onerror = resolve;
  });
  const closed = new Promise((resolve) => {
    socket.onclose = resolve;
  });
  socket.close();
  await closed;
}

/** Counts what happened and what was said of it. */
class Tally {
  connections = 0;
  #migrations = 0;
  #unprovable = 0;
  #silentLosses = 0;
  readonly #said = new Map<string, Partial<Record<Role, Verdict>>>();
  #due: (() => void)[] = [];
  readonly #truths: Partial<Record<Truth | 'refused', number>> = {};
  readonly #verdicts: Record<string, number> = {};
  readonly #faults: string[] = [];

  hear(name: string, role: Role, verdict: Verdict): void {
    const said = this.#said.get(name) ?? {};
    said[role] = verdict;
    this.#said.set(name, said);
  }

  note(
    name: string,
    refused: boolean,
    asked: Position | undefined,
    first: Position | undefined,
    stamped: boolean,
  ): void {
    this.connections += 1;
    if (refused) this.#count(this.#truths, 'refused');
    if (asked === undefined || refused) this.#due.push(() => void this.#said.delete(name));
    // The other end hears of the last byte a moment later.
    else this.#due.push(() => this.#check(name, judgeTruth(asked, first, stamped)));
  }

  migrated(): void {
    this.#migrations += 1;
    this.connections += 2;
  }

  settle(): void {
    for (const check of this.#due.splice(0)) check();
  }

  result(): ChurnResult {
    return {
      connections: this.connections,
      migrations: this.#migrations,
      truths: this.#truths,
      verdicts: this.#verdicts,
      faults: this.#faults,
      unprovable: this.#unprovable,
      silentLosses: this.#silentLosses,
    };
  }

  #check(name: string, reconnect: ReturnType<typeof judgeTruth>): void {
    const verdicts = this.#said.get(name) ?? {};
    this.#said.delete(name);
    this.#count(this.#truths, reconnect.truth);
    for (const [role, { classification }] of Object.entries(verdicts)) {
      this.#count(this.#verdicts, `${role} ${classification}`);
    }
    const { truth, provable } = reconnect;
    if (truth === 'other_log' && !provable) this.#unprovable += 1;
    const told = Object.values(verdicts).some((it) => it?.classification === 'reoriginated');
    if (truth === 'lost' && !told) this.#silentLosses += 1;
    const fault: Fault | undefined = faultOf(reconnect, verdicts);
    if (fault === undefined || this.#faults.length >= MOST_FAULTS) return;
    this.#faults.push(`${fault}: ${name} ${JSON.stringify({ ...reconnect, verdicts })}`);
  }

  #count(counts: Record<string, number>, name: string): void {
    counts[name] = (counts[name] ?? 0) + 1;
  }
}
