import type { Transport } from './connection.ts';
import type { Relation } from './cursor/relate.ts';
import type { RefusedReason } from './verdict.ts';

/** How the payload of the first event stands to what this stream had under the same id before. */
export type PayloadUnderId = 'new' | 'same' | 'other';

/** The first application event of the connection; R5–R8 and R12–R14 look at nothing else (R18a). */
export interface FirstEvent {
  readonly id: string | undefined;
  /** The id is that of a later event, the first one had none: it can only refute (R16). */
  readonly isLate: boolean;
  readonly payload: PayloadUnderId;
  /** To the expected cursor; `undefined` without an id or without a cursor. */
  readonly relation: Relation | undefined;
}

/**
 * Everything known, at one moment, about one reconnect of one logical stream. `classify` is a
 * function of this alone; the terms are those of `docs/spec/verdicts.md`.
 */
export interface Evidence {
  readonly transport: Transport;
  readonly phase: 'open' | 'timed_out' | 'ended';
  /** Only the generic WebSocket profile describes this connection. */
  readonly hasProfile: boolean;
  /** This connection takes the stream from SSE to a WebSocket (M1). */
  readonly migrates: boolean;

  /** Status, content type or close code that declines (R1). */
  readonly refusal: RefusedReason | undefined;
  /** A refusal or reset signal of the profile; what it means depends on what follows (R1, R3). */
  readonly reset: boolean;
  /** An application event came after that signal. */
  readonly deliveredSinceReset: boolean;
  /** A frame that only a fresh stream sends (R3). */
  readonly origin: boolean;
  /** The protocol's own verdict "resumed" (R10). */
  readonly declaredResumed: boolean;
  /** The profile knows such a verdict, and it may come after the replay (R16). */
  readonly mayDeclare: boolean;
  readonly neverResumes: boolean;

  readonly sentCursor: string | undefined;
  /** The sent cursor, else the last id this client received on the logical stream. */
  readonly expectedCursor: string | undefined;
  readonly echo: string | undefined;

  readonly epoch: string | undefined;
  readonly heldEpoch: string | undefined;

  /** The server's declared replay window, as far as it reaches back. */
  readonly window: 'none' | 'unstated_reach' | 'not_comparable' | 'covers' | 'does_not_cover';
  /** The declared oldest position, related to the expected cursor. */
  readonly oldest: Relation | undefined;
  /** The declared end of the log, related to the expected cursor. */
  readonly tail: Relation | undefined;

  readonly delivered: boolean;
  readonly first: FirstEvent | undefined;
  /** An event without id came, and this profile tells positions in control frames. */
  readonly positionMayFollow: boolean;
}
