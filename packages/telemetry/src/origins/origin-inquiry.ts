import type { OtherIssuer } from '@sameriver/core';
import { createDeadlines } from '../deadlines.ts';
import { createAnswerLimit } from './answer-limit.ts';
import { isOfThisProcess } from './issue-book.ts';
import type { OriginIndex } from './origin-index.ts';

/** How long a verdict may be held for the index, in milliseconds. */
const PATIENCE = 250;
/**
 * Questions that may stay without an answer; further ones are not put. A deploy sends the readers of
 * hundreds of streams at once, and an answer takes a few kilobytes.
 */
const MOST_UNANSWERED = 512;

type Hear = (others: readonly OtherIssuer[]) => void;

/** Asks an index, and goes on without it when it fails or takes too long. */
export class OriginInquiry {
  readonly #index: OriginIndex;
  readonly #failed: () => void;
  readonly #later: (callback: () => void) => () => void;
  /** One question for the many readers of a broadcast that come back at once. */
  readonly #asked = new Map<string, Promise<readonly OtherIssuer[]>>();
  readonly #giveUp = new Set<() => void>();
  readonly #limited = createAnswerLimit();

  constructor(
    index: OriginIndex,
    failed: () => void,
    later: (callback: () => void) => () => void = createDeadlines(PATIENCE),
  ) {
    this.#index = index;
    this.#failed = failed;
    this.#later = later;
  }

  /** @param hear Called once, in this turn or a later one; with nobody where nobody can be asked. */
  ask(stream: string, hear: Hear): void {
    const question = this.#question(stream);
    if (question === undefined) {
      this.#failed();
      hear([]);
      return;
    }
    const settle = (others: readonly OtherIssuer[]): void => {
      if (!this.#giveUp.delete(giveUp)) return;
      cancel();
      hear(others);
    };
    const giveUp = (): void => settle([]);
    this.#giveUp.add(giveUp);
    const cancel = this.#later(() => {
      if (this.#giveUp.has(giveUp)) this.#failed();
      giveUp();
    });
    question.then(settle, giveUp);
  }

  /** Nobody waits any longer. */
  stop(): void {
    for (const giveUp of [...this.#giveUp]) giveUp();
  }

  #question(stream: string): Promise<readonly OtherIssuer[]> | undefined {
    const asked = this.#asked.get(stream);
    if (asked !== undefined) return asked;
    if (this.#asked.size >= MOST_UNANSWERED) return undefined;
    const question = this.#put(stream).finally(() => this.#asked.delete(stream));
    this.#asked.set(stream, question);
    return question;
  }

  async #put(stream: string): Promise<readonly OtherIssuer[]> {
    try {
      const { issuers, unreadable } = await this.#limited(this.#index.issuersOf(stream));
      if (unreadable > 0) this.#failed();
      return issuers.filter(({ issuer }) => !isOfThisProcess(issuer));
    } catch {
      this.#failed();
      return [];
    }
  }
}
