import type { MigrationPlan } from '@sameriver/core';
import { planMigration } from '@sameriver/core';

/** Position and payload of one event of a session. */
export interface SessionEvent {
  readonly id: number;
  readonly data: { readonly key: string };
}

/** Whoever is sent the events of a session as they happen. */
export interface Attachment {
  send(event: SessionEvent): void;
  /** The session goes on elsewhere. */
  detach(): void;
}

/** The events of one session: numbered without holes, the latest of them in a ring. */
export class SessionLog {
  newest = 0;
  /** At most one: a session has one reader. */
  attached: Attachment | undefined;
  /** The cursor that `POST …/upgrade` handed over, until a WebSocket comes for it. */
  handedOver: number | undefined;
  readonly #ring: SessionEvent[] = [];
  readonly #capacity: number;

  /** @param capacity Events that the ring holds. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  emit(): void {
    this.newest += 1;
    const event = { id: this.newest, data: { key: `r${this.newest}` } };
    this.#ring.push(event);
    if (this.#ring.length > this.#capacity) this.#ring.shift();
    this.attached?.send(event);
  }

  /** What a reader that has processed so much is owed, or that it cannot be given (M2). */
  plan(processed: number): MigrationPlan {
    return planMigration({
      oldest: BigInt(this.#ring[0]?.id ?? this.newest + 1),
      newest: BigInt(this.newest),
      processed: BigInt(processed),
    });
  }

  /** What the ring holds after a cursor, whether or not that is all there was. */
  after(processed: number): readonly SessionEvent[] {
    return this.#ring.filter(({ id }) => id > processed);
  }

  attach(reader: Attachment): void {
    this.attached?.detach();
    this.attached = reader;
  }

  release(reader: Attachment): void {
    if (this.attached === reader) this.attached = undefined;
  }
}
