import type { Profile, Reason } from '@sameriver/core';
import type { Standing } from './course.ts';
import type { KeyOf } from './keys.ts';
import type { IdempotencyLedger } from './ledger/ledger.ts';
import type { SseEvent } from './sse-event.ts';
import type { StreamResumptionViolation } from './violation.ts';

/** A reconnect of which nothing is proven, for somebody who can ask out of band. */
export interface UnverifiableReconnect {
  readonly stream: string;
  readonly reason: Reason | undefined;
  /** Where the stream was left. */
  readonly cursor: string | undefined;
  readonly epoch: string | undefined;
}

/** An event that somebody began to apply, and nobody knows whether it took place. */
export interface DoubtfulEvent {
  readonly stream: string;
  readonly event: SseEvent;
  /** The idempotency key; absent where the event has none. */
  readonly key: string | undefined;
  /** `reserved`: the effect was cut short. `forgotten`: the ledger no longer remembers that far back. */
  readonly why: 'reserved' | 'forgotten';
}

export type InDoubtAnswer = 'applied' | 'not_applied' | 'unknown';

export interface GuardOptions {
  /** Knows what was applied; closed with the guard. */
  readonly ledger: IdempotencyLedger;
  /** The idempotency key of an event, as `jsonKey('/key')`. Without it no event has one. */
  readonly key?: KeyOf;
  /**
   * `throw` (default), or the out-of-band check `confirm()`: asked once for each reconnect that
   * nothing proves, it says what it found. `resumed`: goes on where it was. `reoriginated`: compare
   * with the ledger. `unverifiable`: could not be found out, so it is a violation.
   */
  readonly onUnverifiable?:
    | 'throw'
    | ((reconnect: UnverifiableReconnect) => PromiseLike<ConfirmedStanding> | ConfirmedStanding);
  /** Looks whether the effect of an event took place. Default: `unknown`, which is a violation. */
  readonly onInDoubt?: (event: DoubtfulEvent) => PromiseLike<InDoubtAnswer> | InDoubtAnswer;
  /**
   * Hears once of each connection that proved to be another stream, before any of its events is
   * compared and before the position moves: what is lost is said here, `missed` says how much. To
   * throw it means that nothing of that stream is applied.
   */
  readonly onReorigination?: (violation: StreamResumptionViolation) => void;
  /** Profiles of protocols of one's own (`docs/spec/profiles.md`). */
  readonly profiles?: readonly Profile[];
  /** Milliseconds to wait for the byte that decides; then the reconnect is unverifiable. 15,000. */
  readonly decisionTimeout?: number;
  /** Parts of a stream that are held back until then. 1,024; more than that decides at once. */
  readonly held?: number;
  /** Default: a timer. @returns a promise that rejects when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export type ConfirmedStanding = Extract<Standing, 'resumed' | 'reoriginated' | 'unverifiable'>;

/** What the guard did, and what it cost. */
export interface Bill {
  /** Effects that ran. */
  readonly applied: number;
  /** Events that had been applied before. */
  readonly skipped: number;
  /** Events of another stream that were looked up in the ledger before anything was done. */
  readonly reconciled: number;
  /** Events of which it had to be found out whether their effect had taken place. */
  readonly inDoubt: number;
  /** Reconnects that proved to be another stream. */
  readonly reoriginations: number;
  /** Reconnects for which `onUnverifiable` was asked. */
  readonly confirmations: number;
  /** Events and reconnects that were refused. */
  readonly violations: number;
}
