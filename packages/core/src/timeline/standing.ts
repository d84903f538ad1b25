import type { ConnectionEnd, StreamReport } from '../connection.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Lane } from './lane.ts';
import type { OpenConnection } from './logical-stream.ts';
import type { StreamRegistry } from './registry.ts';

/** What can be said of a connection of a client at any time of its life. */
export interface Standing {
  /** The stream that is the connection itself, or what no frame names (R19). */
  readonly main: Lane;
  /** In force. */
  readonly profile: CompiledProfile;
  readonly ordinal: number;
  readonly previous: unknown;
  readonly resumeRequested: boolean;
  readonly settled: boolean;
  readonly events: number;
  readonly repeated: number;
  /**
   * @param cursor last id received.
   * @returns the final report of each of its streams; none of an attempt that was no connection (R1).
   */
  finish(end: ConnectionEnd, cursor: string | undefined): StreamReport[];
  leave(leaving: Leaving): void;
}

export interface Leaving {
  readonly registry: StreamRegistry;
  readonly connection: OpenConnection;
  readonly end: ConnectionEnd;
  /** Milliseconds; without it the time of the request stands. */
  readonly at: number | undefined;
}
