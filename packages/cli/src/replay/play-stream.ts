import type { Exchange } from './clients/client.ts';
import { CannotSend } from './clients/client.ts';
import type { RequestArrival } from './request-arrival.ts';
import { requireSame } from './require-same.ts';
import type { ScriptedServer } from './scripted-server.ts';
import { settle } from './settle.ts';
import type { Stage, Watched } from './stage.ts';
import type { StreamHop } from './stream-hop.ts';
import type { WireAnswer } from './wire-message.ts';
import { within } from './within.ts';

/**
 * Plays one attempt over HTTP.
 *
 * @throws CannotSend when the client library cannot make a request as the transcript has it.
 */
export async function playStream(
  hops: readonly [StreamHop, ...StreamHop[]],
  { client, server, watched }: Stage,
): Promise<Exchange> {
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

function nextArrival(server: ScriptedServer, exchange: Exchange): Promise<RequestArrival> {
  const unasked = exchange.answered.then(() => {
    throw new CannotSend('this client does not follow the redirect');
  });
  return Promise.race([server.nextRequest(), unasked]);
}

/** A redirect of the transcript leads to this server, wherever it led when it was recorded. */
function redirect(
  { answer }: StreamHop,
  next: StreamHop,
  arrival: RequestArrival,
  origin: string,
): void {
  if (answer === undefined) return;
  const location = origin + next.request.target;
  arrival.answer({ ...answer, headers: { ...answer.headers, location } });
  arrival.finish();
}

async function playLast(
  hop: StreamHop,
  arrival: RequestArrival,
  exchange: Exchange,
  watched: Watched,
): Promise<void> {
  const { index, answer, ends } = hop;
  if (answer !== undefined) await playAnswer(hop, answer, arrival, exchange);
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
  { index, frames }: StreamHop,
  answer: WireAnswer,
  arrival: RequestArrival,
  exchange: Exchange,
): Promise<void> {
  arrival.answer(answer);
  await within(exchange.answered, `the client to see the answer of connection ${index}`);
  let sent = 0;
  for (const [position, bytes] of frames.entries()) {
    sent += bytes.length;
    const read = Promise.race([exchange.received(sent), exchange.done]);
    await within(
      Promise.all([arrival.write(bytes), read]),
      `the client to read frame ${position} of connection ${index}`,
    );
  }
}
