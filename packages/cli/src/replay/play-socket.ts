import type { SocketExchange } from './clients/client.ts';
import { CannotSend } from './clients/client.ts';
import type { HandshakeArrival, ScriptedSocket } from './handshake-arrival.ts';
import { requireSame } from './require-same.ts';
import type { ScriptedServer } from './scripted-server.ts';
import { settle } from './settle.ts';
import type { SocketEnd, SocketHop } from './socket-hop.ts';
import type { Stage } from './stage.ts';
import type { WireAnswer } from './wire-message.ts';
import { within } from './within.ts';

const SWITCHING = 101;
const MOST_REPEATED = 5;

/**
 * Plays one attempt to open a WebSocket, and what is said over it.
 *
 * @throws CannotSend when the client library cannot make a handshake as the transcript has it, or
 *   takes the answer for none.
 */
export async function playSocket(
  hops: readonly [SocketHop, ...SocketHop[]],
  { sockets, server, watched }: Stage,
): Promise<SocketExchange> {
  const [{ index, request }] = hops;
  watched.enter(index);
  const followRedirects = hops.length > 1;
  const exchange = sockets.connect({ ...request, origin: server.origin, followRedirects });
  for (const [position, hop] of hops.entries()) {
    const arrival = await within(nextArrival(server, exchange), `connection ${hop.index}`);
    requireSame(arrival, hop.request, Object.keys(request.headers));
    if (position > 0) watched.follow(hop.index);
    const next = hops[position + 1];
    if (next === undefined) await playLast(hop, arrival, exchange, server);
    else redirect(hop, next, arrival, server.origin);
  }
  await settle();
  watched.elapse();
  return exchange;
}

/** Until its request is answered, no WebSocket opens: what comes first is the failure to send it. */
function nextArrival(server: ScriptedServer, exchange: SocketExchange): Promise<HandshakeArrival> {
  const failure = exchange.opened.then(() => Promise.withResolvers<never>().promise);
  return Promise.race([server.nextHandshake(), failure]);
}

/** A redirect of the transcript leads to this server, wherever it led when it was recorded. */
function redirect(
  { answer }: SocketHop,
  next: SocketHop,
  arrival: HandshakeArrival,
  origin: string,
): void {
  if (answer === undefined) return;
  const location = origin.replace(/^http/, 'ws') + next.request.target;
  arrival.refuse({ ...answer, headers: { ...answer.headers, location } });
}

async function playLast(
  hop: SocketHop,
  arrival: HandshakeArrival,
  exchange: SocketExchange,
  server: ScriptedServer,
): Promise<void> {
  const { index, answer, ends } = hop;
  if (answer !== undefined && answer.status !== SWITCHING) {
    await refuse(answer, arrival, exchange, server);
    return;
  }
  if (answer === undefined) end(ends, arrival);
  else {
    const socket = arrival.accept(answer.headers);
    await within(exchange.opened, `the client to open connection ${index}`);
    await converse(hop, socket, exchange);
    end(ends, arrival, socket);
  }
  if (ends !== 'open')
    await within(exchange.done, `the client to see the end of connection ${index}`);
}

/** A library may ask once more before it gives up, as undici does after a 401. */
async function refuse(
  answer: WireAnswer,
  arrival: HandshakeArrival,
  exchange: SocketExchange,
  server: ScriptedServer,
): Promise<void> {
  let asked: HandshakeArrival | undefined = arrival;
  for (let times = 0; asked !== undefined && times < MOST_REPEATED; times += 1) {
    asked.refuse(answer);
    const next = server.nextHandshakeBefore(exchange.done);
    asked = await within(next, 'the client to give up');
  }
  if (asked !== undefined)
    throw new CannotSend(`the client takes no ${answer.status} for an answer`);
}

async function converse(
  { index, messages }: SocketHop,
  socket: ScriptedSocket,
  exchange: SocketExchange,
): Promise<void> {
  const said = { server: 0, client: 0 };
  for (const [position, { by, data }] of messages.entries()) {
    said[by] += 1;
    const heard = by === 'server' ? exchange.received(said.server) : socket.received(said.client);
    const sent = by === 'server' ? socket.send(data) : exchange.send(data);
    await within(
      Promise.all([sent, Promise.race([heard, exchange.done])]),
      `message ${position} of connection ${index} to arrive`,
    );
  }
}

function end(ends: SocketEnd, arrival: HandshakeArrival, socket?: ScriptedSocket): void {
  if (ends === 'open') return;
  if (ends === 'reset') arrival.reset();
  else if (ends === 'drop') arrival.hangUp();
  else socket?.close(ends.code);
}
