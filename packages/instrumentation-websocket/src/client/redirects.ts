import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import type { FollowedSocket } from '../followed-socket.ts';

interface Answer {
  readonly status: number;
  readonly header: HeaderLookup;
}

interface Held {
  readonly socket: FollowedSocket;
  readonly goesTo: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * L6: a redirect is the same attempt. `ws` asks again before it returns from the answer, so the
 * next handshake that goes where the answer points, while its event is still under way, is the
 * next hop; when none comes, the answer was a refusal.
 */
export class Redirects {
  #held: Held | undefined;

  /** @param settle What the answer means unless it is a redirect that somebody follows. */
  hold(
    socket: FollowedSocket,
    request: StreamRequest,
    { status, header }: Answer,
    settle: () => void,
  ): void {
    const location = REDIRECTS.has(status) ? header('location') : undefined;
    const from = request.origin + request.target;
    const goesTo = location === undefined ? undefined : URL.parse(location, from)?.href;
    if (goesTo === undefined) {
      settle();
      return;
    }
    const held = { socket, goesTo: goesTo.replace(/^ws/i, 'http') };
    this.#held = held;
    queueMicrotask(() => {
      if (this.#held !== held) return;
      this.#held = undefined;
      settle();
    });
  }

  take({ origin, target }: StreamRequest): FollowedSocket | undefined {
    const held = this.#held;
    if (held === undefined || URL.parse(origin + target)?.href !== held.goesTo) return undefined;
    this.#held = undefined;
    return held.socket;
  }
}
