import { courseFor } from './course.ts';
import type { Judgement } from './judge.ts';
import { PlaceKeys } from './keys.ts';
import type { Position, Reservation } from './ledger/ledger.ts';
import type { Office } from './office.ts';
import type { SseEvent } from './sse-event.ts';
import type { ViolationReason } from './violation.ts';
import { StreamResumptionViolation } from './violation.ts';

/** What is to be done with one event: run its effect and settle it, or pass over it. */
export type Admission =
  | {
      readonly action: 'execute';
      readonly ledgerKey: string | undefined;
      readonly position: Position | undefined;
    }
  | { readonly action: 'skip'; readonly position: Position | undefined };

/** The stream whose events are decided on. */
export interface DeskStream {
  readonly stream: string;
  /** Where it was left; `undefined` when nothing was read of it. */
  readonly held: Position | undefined;
  /** Its position is in the ledger, and so are its events that have no key of their own. */
  readonly isKept: boolean;
}

/** Decides on the events of one connection. */
export class Desk {
  readonly #office: Office;
  readonly #stream: string;
  readonly #held: Position | undefined;
  readonly #placeKeys: PlaceKeys | undefined;
  #confirmed: Judgement | undefined;
  #asked: Judgement | undefined;
  #told = false;
  #cursor: string | undefined;
  #run: string;
  #begun: boolean;

  constructor(office: Office, { stream, held, isKept }: DeskStream) {
    this.#office = office;
    this.#stream = stream;
    this.#held = held;
    this.#run = held?.run ?? crypto.randomUUID();
    this.#begun = held !== undefined || !isKept;
    this.#placeKeys = isKept ? new PlaceKeys(stream) : undefined;
    this.#cursor = held?.cursor;
  }

  /** An id without an event: the position that the next event takes along. */
  pass(id: string): void {
    this.#cursor = id === '' ? undefined : id;
  }

  /** The judgement, or what `onUnverifiable` found out in its place. */
  async standingOf(judgement: Judgement): Promise<Judgement> {
    const found =
      judgement.standing === 'unverifiable' ? await this.#confirm(judgement) : judgement;
    if (found.standing === 'reoriginated' && !this.#told) this.#tell(found);
    return found;
  }

  /**
   * @throws StreamResumptionViolation when nothing may be done with it.
   * @throws the error of the ledger, or of a callback; nothing was applied then.
   */
  async admit(event: SseEvent, judged: Judgement): Promise<Admission> {
    const { bill, options } = this.#office;
    const judgement = await this.standingOf(judged);
    const key = options.key?.(event);
    const course = courseFor(judgement.standing, key !== undefined);
    if (course === 'refuse') {
      const { standing } = judgement;
      const why = standing === 'reoriginated' ? 'no_idempotency_key' : 'unverifiable';
      throw this.violation(why, judgement, event, key);
    }
    const position = this.#positionAfter(event, judgement);
    const ledgerKey =
      key === undefined ? await this.#placeKeys?.of(event, this.#run) : JSON.stringify([key]);
    if (course === 'reconcile') bill.reconciled += 1;
    if (ledgerKey === undefined) return { action: 'execute', ledgerKey, position };
    if (!this.#begun) await this.#begin(position);
    return this.admitKeyed({ event, key, ledgerKey, position, judgement, course });
  }

  /** Decides by what the ledger knows of a key. @throws as `admit` does. */
  async admitKeyed(keyed: Keyed): Promise<Admission> {
    const { ledgerKey, position, course } = keyed;
    const reservation = await this.#office.reserve(ledgerKey);
    if (reservation.state === 'confirmed') return { action: 'skip', position };
    const isNew = reservation.state === 'reserved' && (reservation.complete || course === 'apply');
    if (isNew) return { action: 'execute', ledgerKey, position };
    return this.#resolve(keyed, reservation);
  }

  /** Counts what is refused. */
  violation(
    reason: ViolationReason,
    judgement: Judgement,
    event: SseEvent | undefined,
    key: string | undefined,
  ): StreamResumptionViolation {
    this.#office.bill.violations += 1;
    return this.#violationOf(reason, judgement, event, key);
  }

  /** Somebody was cut short in the middle of this event, or the ledger no longer knows. */
  async #resolve(
    { event, key, ledgerKey, position, judgement }: Keyed,
    reservation: Doubtful,
  ): Promise<Admission> {
    const { ledger, onInDoubt } = this.#office.options;
    this.#office.bill.inDoubt += 1;
    const isReserved = reservation.state === 'in_doubt';
    const why = isReserved ? 'reserved' : 'forgotten';
    const question = { stream: this.#stream, event, key, why } as const;
    const answer = await this.#office.orLetGo(
      ledgerKey,
      async () => onInDoubt?.(question) ?? 'unknown',
    );
    if (answer === 'unknown') {
      if (!isReserved) await this.#office.letGo(ledgerKey, 'release');
      else this.#office.leave(ledgerKey);
      throw this.violation(isReserved ? 'in_doubt' : 'forgotten', judgement, event, key);
    }
    const isOurs = !isReserved || (await ledger.takeOver(ledgerKey, reservation.token));
    if (!isOurs) {
      this.#office.leave(ledgerKey);
      throw this.violation('reservation_lost', judgement, event, key);
    }
    if (answer === 'not_applied') return { action: 'execute', ledgerKey, position };
    await this.#office.confirm(ledgerKey, position);
    return { action: 'skip', position };
  }

  async #confirm(judgement: Judgement): Promise<Judgement> {
    // A verdict that was revised meanwhile is another question.
    if (this.#asked?.reason === judgement.reason && this.#confirmed) return this.#confirmed;
    const { onUnverifiable = 'throw' } = this.#office.options;
    if (onUnverifiable === 'throw') return judgement;
    this.#office.bill.confirmations += 1;
    const standing = await onUnverifiable({
      stream: this.#stream,
      reason: judgement.reason,
      cursor: this.#held?.cursor,
      epoch: this.#held?.epoch,
    });
    this.#asked = judgement;
    this.#confirmed = { ...judgement, standing };
    return this.#confirmed;
  }

  /**
   * Before the first effect: whoever comes after a crash must know that there was one, or would take
   * the stream for a new one and the same event for another.
   */
  async #begin({ stream, epoch, run }: Position): Promise<void> {
    this.#begun = true;
    await this.#office.options.ledger.advance({ stream, cursor: undefined, epoch, run });
  }

  #tell(judgement: Judgement): void {
    this.#told = true;
    this.#run = crypto.randomUUID();
    this.#office.bill.reoriginations += 1;
    const violation = this.#violationOf('events_missed', judgement, undefined, undefined);
    this.#office.options.onReorigination?.(violation);
  }

  #violationOf(
    reason: ViolationReason,
    { standing, reason: verdictReason, missed }: Judgement,
    event: SseEvent | undefined,
    key: string | undefined,
  ): StreamResumptionViolation {
    return new StreamResumptionViolation({
      reason,
      stream: this.#stream,
      standing,
      verdictReason,
      eventId: event?.id,
      key,
      missed,
    });
  }

  #positionAfter({ id }: SseEvent, { epoch }: Judgement): Position {
    if (id !== undefined) this.pass(id);
    return this.positionAt(epoch);
  }

  /** Where the stream is, in a log of this epoch. */
  positionAt(epoch: string | undefined): Position {
    return { stream: this.#stream, cursor: this.#cursor, epoch, run: this.#run };
  }
}

/** An event that the ledger can know. */
interface Keyed {
  readonly event: SseEvent;
  readonly key: string | undefined;
  readonly ledgerKey: string;
  /** `undefined` where no stream moves with it. */
  readonly position?: Position | undefined;
  readonly judgement: Judgement;
  readonly course: 'apply' | 'reconcile';
}

type Doubtful = Extract<Reservation, { state: 'in_doubt' | 'reserved' }>;
