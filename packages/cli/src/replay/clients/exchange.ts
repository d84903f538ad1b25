import { countUp } from '../count-up.ts';
import type { ClientName, Exchange } from './client.ts';
import { cannotSend } from './client.ts';

/**
 * Runs one request of a library that hands out an answer and then its body.
 *
 * @param client Named in the reason when `send` fails.
 * @param send Makes the request; resolves with the answer once its headers are in.
 * @param chunks The body as the application reads it; it may break.
 */
export function startExchange<Answer>(
  client: ClientName,
  send: (signal: AbortSignal) => Promise<Answer>,
  chunks: (answer: Answer) => AsyncIterable<Uint8Array>,
): Exchange {
  const received = countUp();
  const controller = new AbortController();
  const answer = attempt(client, send, controller.signal);
  const read = async (): Promise<void> => {
    for await (const chunk of chunks(await answer)) received.add(chunk.byteLength);
  };
  return {
    answered: answer.then(() => {}),
    received: received.reach,
    // A body that breaks is part of the transcript; the tap has seen it and judges it.
    done: read().catch(() => {}),
    abort: () => controller.abort(),
  };
}

async function attempt<Answer>(
  client: ClientName,
  send: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return await send(signal);
  } catch (error) {
    throw cannotSend(client, error);
  }
}
