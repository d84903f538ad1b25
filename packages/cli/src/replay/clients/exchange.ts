import type { ClientName, Exchange } from './client.ts';
import { cannotSend } from './client.ts';

/** Counts the bytes that an application has read, and tells who waits for them. */
export interface ReceivedBytes {
  add(bytes: number): void;
  /** Resolves at once or when the count reaches `bytes`. */
  reach(bytes: number): Promise<void>;
}

export function countReceivedBytes(): ReceivedBytes {
  let total = 0;
  let waiting: { readonly bytes: number; readonly resolve: () => void }[] = [];
  return {
    add: (bytes) => {
      total += bytes;
      const reached = waiting.filter((waiter) => waiter.bytes <= total);
      waiting = waiting.filter((waiter) => waiter.bytes > total);
      for (const waiter of reached) waiter.resolve();
    },
    reach: (bytes) => {
      if (bytes <= total) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ bytes, resolve }));
    },
  };
}

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
  const received = countReceivedBytes();
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
