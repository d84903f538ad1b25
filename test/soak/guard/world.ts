import { readFileSync } from 'node:fs';
import type { LogServer } from '@sameriver/testkit';

/** What may befall the stream while its consumer is killed. */
export type Kind = 'keyed' | 'keyless';

/** Events that a log which begins anew still has. */
const AGAIN = 60;

/** The stream of one consumer: what its server tells, and what became of each event. */
export class World {
  readonly kind: Kind;
  readonly #server: LogServer;
  readonly #effects: string;
  readonly #random: () => number;
  #made = 0;
  #generation = 1;
  #told = 0;
  /** Numbers that the server no longer has although they may not have been applied. */
  #gone: readonly number[] = [];
  #announced = new Set<number>();

  constructor(kind: Kind, server: LogServer, effects: string, random: () => number) {
    this.kind = kind;
    this.#server = server;
    this.#effects = effects;
    this.#random = random;
  }

  get made(): number {
    return this.#made;
  }

  get announced(): number {
    return this.#announced.size;
  }

  /** Makes some events, and something happen now and then. */
  turn(): void {
    if (this.#random() < 0.1) this.#server.cut();
    if (this.#random() < 0.05) this.#loseLog();
    const count = 1 + Math.floor(this.#random() * 8);
    for (let made = 0; made < count; made++) this.#make();
  }

  last(): void {
    this.#make({ isLast: true });
  }

  /** Looks whether the consumer was told that the stream is another one than before. */
  hear(): void {
    const told = readFileSync(`${this.#effects}.told`, 'utf8').length;
    if (told > this.#told) this.announce();
    this.#told = told;
  }

  /** The stream is not the one before, and that was said: what is gone was not lost in silence. */
  announce(): void {
    for (const number of this.#gone) this.#announced.add(number);
    this.#gone = [];
  }

  /** @returns What is wrong, a line each. */
  verify(): string[] {
    const applied = this.#applied();
    const times = new Map<number, number>();
    for (const number of applied) times.set(number, (times.get(number) ?? 0) + 1);
    const wrong: string[] = [];
    for (let number = 1; number <= this.#made; number++) {
      const count = times.get(number) ?? 0;
      if (count > 1) wrong.push(`event ${number} was applied ${count} times`);
      if (count === 0 && !this.#announced.has(number)) {
        wrong.push(`event ${number} was lost without a violation`);
      }
    }
    return wrong;
  }

  #make(more: { readonly isLast?: true } = {}): void {
    this.#made += 1;
    const key = this.kind === 'keyed' ? { key: `k${this.#made}` } : {};
    this.#server.append({ number: this.#made, ...key, ...more });
  }

  /**
   * With keys: another log begins, with the latest events in it again. Without: the window is
   * overrun, and what was not read is gone.
   */
  #loseLog(): void {
    const { log, behaviour } = this.#server;
    if (this.kind === 'keyed') {
      const all = log.map(({ data }) => data);
      const again = all.slice(-AGAIN);
      const numbers = all.slice(0, -AGAIN).map((data) => Number(data['number']));
      this.#lose(numbers);
      this.#generation += 1;
      this.#server.restart(`g${this.#generation}`, this.#generation * 1_000_000);
      this.#server.append(...again);
      return;
    }
    const before = behaviour.evicted;
    behaviour.evicted = log.length;
    const numbers = log.slice(before).map(({ data }) => Number(data['number']));
    this.#lose(numbers);
  }

  /** What was applied before is not lost with the log. */
  #lose(numbers: readonly number[]): void {
    const applied = new Set(this.#applied());
    this.#gone = [...this.#gone, ...numbers.filter((number) => !applied.has(number))];
  }

  #applied(): number[] {
    return readFileSync(this.#effects, 'utf8').split('\n').filter(Boolean).map(Number);
  }
}
