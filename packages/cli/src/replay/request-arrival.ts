import type { ServerResponse } from 'node:http';
import type { Arrival } from './arrival.ts';
import type { WireAnswer } from './wire-message.ts';

/** A request, and the hand that answers it. */
export interface RequestArrival extends Arrival {
  /** Sends status and headers; a body that is no event stream follows at once. */
  answer(answer: WireAnswer): void;
  /** Sends one chunk and waits until the socket has taken it. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the body as HTTP asks. */
  finish(): void;
  /** Closes the TCP connection without another byte. */
  hangUp(): void;
  /** Cuts the TCP connection with RST; the client must have read everything before. */
  reset(): void;
}

export function requestArrival(arrival: Arrival, response: ServerResponse): RequestArrival {
  // A client that leaves early closes the socket under a write; the player hears of it there.
  response.on('error', () => {});
  return {
    ...arrival,
    answer: ({ status, headers, body }) => {
      response.sendDate = false;
      response.writeHead(status, headers);
      if (body !== undefined) response.write(body);
      else response.flushHeaders();
    },
    write: (bytes) =>
      new Promise((resolve) => {
        response.write(bytes, () => resolve());
      }),
    finish: () => response.end(),
    hangUp: () => response.socket?.destroy(),
    reset: () => response.socket?.resetAndDestroy(),
  };
}
