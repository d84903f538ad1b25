import type { Admission, Desk } from '../desk.ts';
import type { JudgedPart, JudgedStream } from '../judged-stream.ts';
import type { Office } from '../office.ts';
import type { SsePart } from '../sse-event.ts';
import { encodePart } from '../sse-event.ts';
import { StreamResumptionViolation } from '../violation.ts';
import type { Line } from './cursor-memory.ts';

export interface GuardedLine {
  readonly line: Line;
  readonly stream: JudgedStream;
  readonly desk: Desk;
}

export interface BodyObserver {
  dropped(violation: StreamResumptionViolation): void;
  /** The ledger failed, or a callback of the guard: the body ends here. */
  failed(error: unknown): void;
  /** The reader wants no more of it. */
  left(): void;
}

type Execute = Extract<Admission, { action: 'execute' }>;

/**
 * The body that a client reads in place of the server's: event for event, as it asks for them. A
 * message counts as applied when the client asks for what follows it.
 */
export class GuardedBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #office: Office;
  readonly #guarded: GuardedLine;
  readonly #observer: BodyObserver;
  readonly #encoder = new TextEncoder();
  #handed: Execute | undefined;
  #hasFailed = false;

  constructor(office: Office, guarded: GuardedLine, observer: BodyObserver) {
    this.#office = office;
    this.#guarded = guarded;
    this.#observer = observer;
    this.stream = new ReadableStream(
      {
        pull: (controller) => this.#pull(controller),
        cancel: (reason) => this.#cancel(reason),
      },
      // Without a queue of its own it asks the server only when it is asked itself.
      { highWaterMark: 0 },
    );
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      // What the network does to the server's body it does to this one.
      const next = await this.#next();
      if (next === undefined) break;
      if (!(await this.#passes(next).catch(this.#failed))) continue;
      controller.enqueue(this.#encoder.encode(encodePart(next.part, next.retry)));
      return;
    }
    controller.close();
  }

  async #next(): Promise<JudgedPart | undefined> {
    await this.#settle().catch(this.#failed);
    return this.#hasFailed ? undefined : this.#guarded.stream.next();
  }

  readonly #failed = async (error: unknown): Promise<boolean> => {
    this.#hasFailed = true;
    this.#observer.failed(error);
    await this.#guarded.stream.cancel().catch(() => {});
    return false;
  };

  /** What belongs to the protocol passes with a stream that goes on, and with no other. */
  async #passes({ part, judgement, isApplicationEvent }: JudgedPart): Promise<boolean> {
    const { desk, line } = this.#guarded;
    const { standing } = await desk.standingOf(judgement);
    if (part.kind !== 'event' || !isApplicationEvent) {
      const goesOn = standing === 'first' || standing === 'resumed';
      if (goesOn && part.kind !== 'comment') this.#moved(part, judgement.epoch);
      return goesOn || part.kind === 'comment';
    }
    try {
      const admission = await desk.admit(part.event, judgement);
      line.held = admission.position;
      if (admission.action === 'execute') this.#handed = admission;
      else this.#office.bill.skipped += 1;
      return admission.action === 'execute';
    } catch (error) {
      if (!(error instanceof StreamResumptionViolation)) throw error;
      this.#observer.dropped(error);
      return false;
    }
  }

  #moved(part: Exclude<SsePart, { kind: 'comment' }>, epoch: string | undefined): void {
    const id = part.kind === 'id' ? part.id : part.event.id;
    if (id === undefined) return;
    this.#guarded.desk.pass(id);
    this.#guarded.line.held = this.#guarded.desk.positionAt(epoch);
  }

  /** The client came back for more, so it has taken what it was given. */
  async #settle(): Promise<void> {
    const handed = this.#handed;
    if (handed === undefined) return;
    this.#handed = undefined;
    this.#office.bill.applied += 1;
    await this.#office.confirm(handed.ledgerKey, undefined);
  }

  async #cancel(reason: unknown): Promise<void> {
    this.#observer.left();
    // It was given out; whether it was taken, only the client knows.
    await this.#office.letGo(this.#handed?.ledgerKey, 'abandon').catch(() => {});
    this.#handed = undefined;
    await this.#guarded.stream.cancel(reason);
  }
}
