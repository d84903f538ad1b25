import { setImmediate } from 'node:timers/promises';
import type { Client, Exchange } from './clients/client.ts';
import { CannotSend } from './clients/client.ts';
import type { Arrival, ScriptedServer } from './scripted-server.ts';
import type { Attempt, Hop, WireAnswer, WireRequest } from './wire-script.ts';
import { within } from './within.ts';

/** What the player tells the instrumentation that watches. */
export interface Watched {
  /** A client is about to make this connection of the transcript. */
  enter(connection: number): void;
  /** It has followed a redirect, so that the same attempt is now this connection (L6). */
  follow(connection: number): void;
  /**
   * `decisionTimeout` has elapsed: for connections that are open now (R16), and for a redirect that
   * nobody has followed.
   */
  elapse(): void;
}

export interface Stage {
  readonly client: Client;
  readonly server: ScriptedServer;
  readonly watched: Watched;
}

/**
 * Plays the attempts one after another, chunk for chunk: each frame is sent when the application
 * has read the one before. Nothing waits for a clock.
 *
 * @throws CannotSend when the client library cannot make a request as the transcript has it.
 */
export async function play(attempts: readonly Attempt[], stage: Stage): Promise<void> {
  const open: Exchange[] = [];
  try {
    for (const { hops } of attempts) {
      const exchange = await playAttempt(hops, stage);
      if (hops.at(-1)?.ends === 'open') open.push(exchange);
    }
  } finally {
    for (const exchange of open) exchange.abort();
    await Promise.all(open.map(({ done }) => within(done, 'the client to leave')));
    await settle();
  }
}

async function playAttempt(hops: Attempt['hops'], stage: Stage): Promise<Exchange> {
  const { client, server, watched } = stage;
  const [{ index, request }] = hops;
  watched.enter(index);
  const followRedirects = hops.length > 1;
  const exchange = client.connect({ ...request, origin: server.origin, followRedirects });
  for (const [position, hop] of hops.entries()) {
    const arrival = await within(nextArrival(server, exchange), `connection ${hop.index}`);
    requireSame(arrival, hop.request, Object.keys(request.headers));
    if (position > 0) watched.follow(hop.index);
    const next = hops[position + 1];
    if (next === undefined) await playLast(hop, arrival, exchange, watched);
    else redirect(hop, next, arrival, server.origin);
  }
  return exchange;
}

function nextArrival(server: ScriptedServer, exchange: Exchange): Promise<Arrival> {
  const unasked = exchange.answered.then(() => {
    throw new CannotSend('this client does not follow the redirect');
  });
  return Promise.race([server.next(), unasked]);
}

/** A redirect of the transcript leads to this server, wherever it led when it was recorded. */
function redirect({ answer }: Hop, next: Hop, arrival: Arrival, origin: string): void {
  if (answer === undefined) return;
  const location = origin + next.request.target;
  arrival.answer({ ...answer, headers: { ...answer.headers, location } });
  arrival.finish();
}

/** @param carried Headers of the first hop, which a client may take along or not. */
function requireSame(arrival: Arrival, request: WireRequest, carried: readonly string[]): void {
  const { method, target, headers } = request;
  if (arrival.method !== method || arrival.target !== target) {
    const sent = `${arrival.method} ${arrival.target}`;
    throw new CannotSend(`the client sends ${sent}, not ${method} ${target}`);
  }
  for (const name of new Set([...carried, ...Object.keys(headers)])) {
    const sent = arrival.header(name) ?? '';
    const wanted = headers[name]?.trim() ?? '';
    if (sent === wanted) continue;
    const [one, other] = [JSON.stringify(sent), JSON.stringify(wanted)];
    throw new CannotSend(`the client sends ${name} ${one}, not ${other}`);
  }
}

async function playLast(
  hop: Hop,
  arrival: Arrival,
  exchange: Exchange,
  watched: Watched,
): Promise<void> {
  const { index, answer, ends } = hop;
  if (answer !== undefined) await playAnswer(index, answer, arrival, exchange);
  if (ends !== 'open') {
    if (ends === 'reset') arrival.reset();
    else if (answer === undefined) arrival.hangUp();
    else arrival.finish();
    await within(exchange.done, `the client to see the end of connection ${index}`);
  }
  await settle();
  watched.elapse();
}

async function playAnswer(
  index: number,
  answer: WireAnswer,
  arrival: Arrival,
  exchange: Exchange,
): Promise<void> {
  arrival.answer(answer);
  await within(exchange.answered, `the client to see the answer of connection ${index}`);
  let sent = 0;
  for (const [position, bytes] of answer.frames.entries()) {
    sent += bytes.length;
    const read = Promise.race([exchange.received(sent), exchange.done]);
    await within(
      Promise.all([arrival.write(bytes), read]),
      `the client to read frame ${position} of connection ${index}`,
    );
  }
}

/** What both ends of a connection do in the same turn of the event loop is over after this. */
async function settle(): Promise<void> {
  await setImmediate();
}
