import type { Verdict } from './verdict.ts';

/** How a stream got from SSE to a WebSocket (M2, M3). */
export type MigrationOutcome = 'replayed' | 'refused' | 'lossy' | 'unverifiable';

/** A WebSocket that continues what was last read, or written, as server-sent events (M1). */
export interface Migration {
  readonly from: 'sse';
  readonly to: 'websocket';
  readonly outcome: MigrationOutcome;
  /** When the upgrade was asked for: milliseconds of the clock of `StreamTimeline.open`. */
  readonly askedAt: number;
}

/** M3: a migration is judged as every reconnect is; this names the verdict by what it means here. */
export function migrationOutcome({ classification, reason }: Verdict): MigrationOutcome {
  switch (classification) {
    case 'resumed':
      return 'replayed';
    case 'reoriginated':
      // R9: by design and out of alerts, for nothing says that there was anything to lose.
      return reason === 'protocol_never_resumes' ? 'unverifiable' : 'lossy';
    default:
      return classification;
  }
}

/** Positions of a server's replay buffer and of the client, all inclusive and dense. */
export interface MigrationPositions {
  /** Oldest position that the buffer still has. */
  readonly oldest: bigint;
  /** Newest position sent so far; below `oldest` when the buffer is empty. */
  readonly newest: bigint;
  /** Last position that the client has processed, not merely been sent. */
  readonly processed: bigint;
}

/**
 * M2: what a server owes a session that moves to a WebSocket. `replay`: these positions are the
 * first frames there. `refuse`: the buffer cannot cover the gap, so the upgrade is answered 409.
 */
export type MigrationPlan =
  | {
      readonly action: 'replay';
      readonly from: bigint;
      readonly to: bigint;
      readonly count: number;
    }
  | { readonly action: 'refuse'; readonly status: 409; readonly missing: number };

/** Thrown by a server that cannot cover a migration: refusing is honest, attaching is not. */
export class SessionMigrationGapError extends Error {
  override readonly name: string = 'SessionMigrationGapError';
  readonly status = 409;
  /** Positions that are neither processed by the client nor in the buffer. */
  readonly missing: number;

  constructor({ oldest, processed }: MigrationPositions, missing: number) {
    super(
      `the replay buffer begins at ${oldest}, the client has processed ${processed}: ` +
        `${missing} event(s) would be lost; refuse the upgrade with 409`,
    );
    this.missing = missing;
  }
}

/**
 * A replay cursor is not a delivery guarantee: what was sent and what was processed differ by what
 * was in flight when the transports changed.
 */
export function planMigration({ oldest, newest, processed }: MigrationPositions): MigrationPlan {
  const from = processed + 1n;
  // A cursor ahead of the log names events of another log: nothing here continues it.
  if (processed > newest) return { action: 'refuse', status: 409, missing: 0 };
  if (from < oldest) return { action: 'refuse', status: 409, missing: Number(oldest - from) };
  return { action: 'replay', from, to: newest, count: Number(newest - processed) };
}

/**
 * M4: how many events a migration lost without a sound; the server knows exactly.
 * @param handedOver the cursor that crossed over. @param replayed events sent first on the socket.
 */
export function migrationLoss(sent: bigint, handedOver: bigint, replayed: number): number {
  return Math.max(0, Number(sent - handedOver) - replayed);
}
