import type { ConnectionEnd, StreamReport } from '../connection.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { AboutConnection, Lane } from './lane.ts';
import type { LogicalStream, Move } from './logical-stream.ts';
import type { Leaving, Standing } from './standing.ts';

type Known = Pick<Standing, 'main' | 'profile' | 'ordinal' | 'previous' | 'resumeRequested'> &
  Omit<AboutConnection, 'lastCursor'> & {
    readonly stream: LogicalStream;
    /** Milliseconds: when the request was made. */
    readonly at: number;
  };

/**
 * Where a connection stands once it is judged and nothing looks into its text any more. A stream may
 * stay open for days, and this is all that is kept of the inquiry.
 */
export class Outcome implements Standing {
  readonly main: Lane;
  readonly profile: CompiledProfile;
  readonly ordinal: number;
  readonly previous: unknown;
  readonly resumeRequested: boolean;
  readonly #stream: LogicalStream;
  readonly #at: number;
  readonly #epochIsSession: boolean;
  readonly #move: Move | undefined;

  constructor(known: Known) {
    this.main = known.main;
    this.profile = known.profile;
    this.ordinal = known.ordinal;
    this.previous = known.previous;
    this.resumeRequested = known.resumeRequested;
    this.#stream = known.stream;
    this.#at = known.at;
    this.#epochIsSession = known.epochIsSession;
    this.#move = known.move;
  }

  get settled(): boolean {
    return true;
  }

  get events(): number {
    return this.main.events;
  }

  get repeated(): number {
    return this.main.duplicates;
  }

  finish(_end: ConnectionEnd, cursor: string | undefined): StreamReport[] {
    const { main } = this;
    if (cursor !== undefined) main.state.lastId = cursor;
    const about = { epochIsSession: this.#epochIsSession, lastCursor: cursor, move: this.#move };
    return [main.report(about)];
  }

  leave({ registry, connection, end, at = this.#at }: Leaving): void {
    registry.left(this.#stream, connection, { end, at });
  }
}
