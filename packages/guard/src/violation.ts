import type { Count, Reason } from '@sameriver/core';
import type { Standing } from './course.ts';

/**
 * `no_idempotency_key`: the stream is another one, and nothing tells whether this event was applied.
 * `unverifiable`: nothing proves that the stream goes on where it was. `in_doubt`: somebody began to
 * apply the event and never said that it was done. `forgotten`: the ledger has let go of keys, and
 * this may be one of them. `reservation_lost`: somebody else took the event over meanwhile.
 * `events_missed`: the stream is another one, and what it does not bring again is lost; told to
 * `onReorigination`, and thrown only where that throws it.
 * `overflow`: events come faster than they are applied, from a source that cannot be slowed down.
 */
export type ViolationReason =
  | 'no_idempotency_key'
  | 'unverifiable'
  | 'in_doubt'
  | 'forgotten'
  | 'reservation_lost'
  | 'events_missed'
  | 'overflow';

export interface ViolationDetails {
  readonly reason: ViolationReason;
  /** The logical stream, as the guard names it. */
  readonly stream: string;
  readonly standing: Standing;
  /** Why the stream stands as it does; absent where there is no verdict. */
  readonly verdictReason: Reason | undefined;
  /** Id of the event that was not applied. */
  readonly eventId: string | undefined;
  /** Its idempotency key. */
  readonly key: string | undefined;
  /** Events lost before it, where that is proven. */
  readonly missed: Count;
}

const ADVICE: Readonly<Record<ViolationReason, string>> = {
  no_idempotency_key:
    'give its events an idempotency key and name its place in `key`, or read the state anew and ' +
    'forget the position',
  unverifiable:
    'let the server stamp Stream-Continuity, or decide in `onUnverifiable` by asking out of band',
  in_doubt:
    'find out whether its effect took place and answer in `onInDoubt`: "applied" or "not_applied"',
  forgotten: 'give the ledger more room, or answer in `onInDoubt`',
  reservation_lost: 'give the ledger a longer lease than the effect takes',
  events_missed:
    'what comes is compared with the ledger; read the state anew for what does not come again',
  overflow: 'apply faster, or read the stream with guard.events(), which waits for the effect',
};

/** An event was not applied, because nobody could say that applying it was right. */
export class StreamResumptionViolation extends Error {
  override readonly name: string = 'StreamResumptionViolation';
  readonly reason: ViolationReason;
  readonly stream: string;
  readonly standing: Standing;
  readonly verdictReason: Reason | undefined;
  readonly eventId: string | undefined;
  readonly key: string | undefined;
  readonly missed: Count;

  constructor(details: ViolationDetails, options?: ErrorOptions) {
    super(messageOf(details), options);
    this.reason = details.reason;
    this.stream = details.stream;
    this.standing = details.standing;
    this.verdictReason = details.verdictReason;
    this.eventId = details.eventId;
    this.key = details.key;
    this.missed = details.missed;
  }
}

function messageOf(details: ViolationDetails): string {
  const { reason, stream, standing, verdictReason, eventId, key } = details;
  const event = key === undefined ? `event ${eventId ?? 'without id'}` : `event with key ${key}`;
  const verdict = verdictReason === undefined ? standing : `${standing}: ${verdictReason}`;
  if (reason === 'events_missed') {
    const count = details.missed === 'unknown' ? 'an unknown number of' : details.missed;
    return `${count} events of ${stream} (${verdict}) are lost: ${reason}; ${ADVICE[reason]}`;
  }
  return `${event} of ${stream} (${verdict}) was not applied: ${reason}; ${ADVICE[reason]}`;
}

/**
 * Thrown by an effect that knows that nothing has happened: its reservation is given back, and the
 * event runs when it comes again. Any other error leaves the event in doubt.
 */
export class EffectNotApplied extends Error {
  override readonly name: string = 'EffectNotApplied';
}

/** The server declined, for good: asking again would bring the same answer. Nothing was lost in silence. */
export class StreamRefused extends Error {
  override readonly name: string = 'StreamRefused';
  readonly status: number;

  constructor(stream: string, status: number) {
    super(
      `${stream} was refused with ${status}; after 404, 409 or 410 the server no longer has what ` +
        'follows the position: read the state anew, then forget the position',
    );
    this.status = status;
  }
}
