import type { IdempotencyLedger, Position, Reservation } from './ledger.ts';

export interface MemoryLedgerOptions {
  /** Confirmed keys to remember; the oldest are forgotten first. Default 100,000. */
  readonly keep?: number;
  /** Hears of each key that is forgotten. */
  readonly onForget?: (key: string) => void;
}

/** All keys are reserved: the effects are stuck, and to forget one would repeat it. */
export class LedgerFull extends Error {
  override readonly name: string = 'LedgerFull';
}

/**
 * A ledger for as long as the process lives: it protects from what the stream repeats, not from
 * a crash. Bounded; once it has forgotten a key it says so with every reservation.
 */
export function memoryLedger(options: MemoryLedgerOptions = {}): IdempotencyLedger {
  return new MemoryLedger(options);
}

class MemoryLedger implements IdempotencyLedger {
  forgotten = 0;
  readonly #keep: number;
  readonly #onForget: ((key: string) => void) | undefined;
  readonly #reserved = new Map<string, string>();
  readonly #confirmed = new Set<string>();
  readonly #positions = new Map<string, Position>();
  #reservations = 0;

  constructor({ keep = 100_000, onForget }: MemoryLedgerOptions) {
    this.#keep = keep;
    this.#onForget = onForget;
  }

  async reserve(key: string): Promise<Reservation> {
    if (this.#confirmed.has(key)) return { state: 'confirmed' };
    const token = this.#reserved.get(key);
    if (token !== undefined) return { state: 'in_doubt', token };
    if (this.#reserved.size >= this.#keep) {
      throw new LedgerFull(`${this.#keep} keys are reserved and none is confirmed`);
    }
    this.#hold(key);
    return { state: 'reserved', complete: this.forgotten === 0 };
  }

  async takeOver(key: string, token: string): Promise<boolean> {
    if (this.#reserved.get(key) !== token) return false;
    this.#hold(key);
    return true;
  }

  async confirm(key: string, position: Position | undefined): Promise<boolean> {
    if (!this.#reserved.delete(key)) return false;
    this.#confirmed.add(key);
    for (const oldest of this.#confirmed) {
      if (this.#confirmed.size <= this.#keep) break;
      this.#confirmed.delete(oldest);
      this.forgotten += 1;
      this.#onForget?.(oldest);
    }
    if (position !== undefined) await this.advance(position);
    return true;
  }

  async release(key: string): Promise<void> {
    this.#reserved.delete(key);
  }

  /** A reservation is in doubt for whoever comes next. */
  async abandon(): Promise<void> {}

  async advance(position: Position): Promise<void> {
    this.#positions.set(position.stream, position);
  }

  async position(stream: string): Promise<Position | undefined> {
    return this.#positions.get(stream);
  }

  async forget(stream: string): Promise<void> {
    this.#positions.delete(stream);
  }

  async close(): Promise<void> {
    this.#reserved.clear();
    this.#confirmed.clear();
    this.#positions.clear();
  }

  #hold(key: string): void {
    this.#reservations += 1;
    this.#reserved.set(key, String(this.#reservations));
  }
}
