import type { Exchange, SocketExchange } from './clients/client.ts';
import { playSocket } from './play-socket.ts';
import { playStream } from './play-stream.ts';
import { settle } from './settle.ts';
import type { Stage } from './stage.ts';
import type { Attempt } from './wire-script.ts';
import { within } from './within.ts';

/**
 * Plays the attempts one after another, chunk for chunk and message for message: each is sent when
 * the application has read the one before. Nothing waits for a clock.
 *
 * @throws CannotSend when a client library cannot make a request as the transcript has it.
 */
export async function play(attempts: readonly Attempt[], stage: Stage): Promise<void> {
  const open: (Exchange | SocketExchange)[] = [];
  try {
    for (const attempt of attempts) {
      const exchange = await playAttempt(attempt, stage);
      if (attempt.hops.at(-1)?.ends === 'open') open.push(exchange);
    }
  } finally {
    for (const exchange of open) exchange.abort();
    await Promise.all(open.map(({ done }) => within(done, 'the client to leave')));
    await settle();
  }
}

function playAttempt(attempt: Attempt, stage: Stage): Promise<Exchange | SocketExchange> {
  return attempt.transport === 'sse'
    ? playStream(attempt.hops, stage)
    : playSocket(attempt.hops, stage);
}
