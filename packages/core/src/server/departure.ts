import type { Transport } from '../connection.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Handover, Move } from '../timeline/logical-stream.ts';
import type { ServerStream } from './server-streams.ts';
import { wantedIndex } from './wanted-index.ts';
import type { WrittenLog } from './written-log.ts';

/** What a request finds its stream carried by: the half of a move that lies before it (M1). */
export class Departure {
  /** Context of the connection that is left, which may be open still. */
  readonly context: unknown;
  readonly #from: Transport | undefined;
  readonly #log: WrittenLog;
  readonly #handover: Handover | undefined;
  readonly #at: number;

  /**
   * @param at milliseconds: when the request came.
   * @param window milliseconds for which a move that was announced may be made.
   */
  constructor(stream: ServerStream, at: number, window: number) {
    const { transport, carrier, lastContext, handover, log } = stream;
    this.context = carrier?.context ?? lastContext;
    this.#from = transport;
    this.#log = log;
    this.#at = at;
    this.#handover = handover && at - handover.askedAt <= window ? handover : undefined;
  }

  /** M3: the cursor that crossed over ahead of this request. */
  get cursor(): string | undefined {
    return this.#from === 'sse' ? this.#handover?.cursor : undefined;
  }

  /**
   * M1. Many may read one stream of a server, so a request is the move of its reader only where it
   * says so: it was announced, or goes on from an event that no WebSocket has been sent.
   */
  move(cursor: string | undefined, profile: CompiledProfile): Move | undefined {
    if (this.#from !== 'sse') return undefined;
    if (this.#handover !== undefined) return { askedAt: this.#handover.askedAt };
    if (cursor === undefined) return undefined;
    const next = wantedIndex(this.#log, cursor, profile);
    const isOnSocket = next !== undefined && this.#log.wentOverSocket(next - 1);
    return isOnSocket ? undefined : { askedAt: this.#at };
  }
}
