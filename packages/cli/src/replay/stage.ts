import type { Client, SocketClient } from './clients/client.ts';
import type { ScriptedServer } from './scripted-server.ts';

/** What the player tells the instrumentation that watches. */
export interface Watched {
  /** A client is about to make this connection of the transcript. */
  enter(connection: number): void;
  /** It has followed a redirect, so that the same attempt is now this connection (L6). */
  follow(connection: number): void;
  /**
   * `decisionTimeout` has elapsed: for connections that are open now (R16), and for a redirect that
   * nobody has followed.
   */
  elapse(): void;
}

export interface Stage {
  readonly client: Client;
  readonly sockets: SocketClient;
  readonly server: ScriptedServer;
  readonly watched: Watched;
}
