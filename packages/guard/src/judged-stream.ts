import type { Judge, Judgement } from './judge.ts';
import type { SsePart } from './sse-event.ts';
import { SseReader } from './sse-event.ts';

/** A part of a stream, and how the stream stood when it came. */
export interface JudgedPart {
  readonly part: SsePart;
  /** An event for the application; the rest belongs to the protocol. */
  readonly isApplicationEvent: boolean;
  readonly judgement: Judgement;
  /** Milliseconds; set with the first part after the stream named another reconnection time. */
  readonly retry: number | undefined;
}

export interface Waiting {
  /** Milliseconds that events are held back, and an answer is waited for, without a verdict. */
  readonly decisionTimeout: number;
  /** Parts that are held back at most. */
  readonly held: number;
  /** Resolves after so many milliseconds. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** What comes later in the same chunk may change how the stream stands, but not for this part. */
type Pending = Omit<JudgedPart, 'judgement'> & { judgement: Judgement | undefined };

/** The parts of one body, each with a judgement; what comes before the verdict waits for it. */
export class JudgedStream {
  readonly #judge: Judge;
  readonly #waiting: Waiting;
  readonly #body: ReadableStreamDefaultReader<Uint8Array>;
  readonly #reader = new SseReader();
  readonly #over = new AbortController();
  readonly #queue: Pending[] = [];
  #retry: number | undefined;
  #ended = false;
  #read: Promise<boolean> | undefined;

  constructor(judge: Judge, body: ReadableStream<Uint8Array>, waiting: Waiting) {
    this.#judge = judge;
    this.#body = body.getReader();
    this.#waiting = waiting;
  }

  /** Waits for the verdict: the deciding byte, the end, the timeout. */
  async settle(): Promise<void> {
    const wakeUp = new AbortController();
    const { decisionTimeout, held, sleep } = this.#waiting;
    let late = false;
    const timeout = sleep(decisionTimeout, AbortSignal.any([wakeUp.signal, this.#over.signal]))
      .then(() => {
        late = true;
        return true;
      })
      .catch(() => true);
    try {
      while (this.#judge.judgement === undefined && !this.#ended) {
        await Promise.race([this.#more(), timeout]);
        if (late || this.#queue.length > held) this.#judge.timeOut();
        this.#bind();
        if (late) break;
      }
    } finally {
      wakeUp.abort();
    }
  }

  /** @returns `undefined` at the end. @throws what the body was errored with. */
  async next(): Promise<JudgedPart | undefined> {
    for (;;) {
      if (this.#queue.length === 0 && this.#ended) return undefined;
      const [first] = this.#queue;
      if (first === undefined) await this.#more();
      else if (first.judgement === undefined) await this.settle();
      else {
        this.#queue.shift();
        return { ...first, judgement: first.judgement };
      }
    }
  }

  /** Lets go of the connection. */
  async cancel(reason?: unknown): Promise<void> {
    this.#finish('aborted');
    await this.#body.cancel(reason);
  }

  /** One read is under way at most: who stopped waiting for it finds it again. */
  #more(): Promise<boolean> {
    this.#read ??= this.#pull().finally(() => {
      this.#read = undefined;
    });
    return this.#read;
  }

  async #pull(): Promise<boolean> {
    try {
      const { done, value } = await this.#body.read();
      if (done) this.#finish('eof');
      else this.#take(value);
      return !done;
    } catch (error) {
      this.#finish('reset');
      throw error;
    }
  }

  #take(bytes: Uint8Array): void {
    const parts = this.#reader.read(bytes);
    const { retry } = this.#reader;
    for (const part of parts) {
      const changed = retry === this.#retry ? undefined : retry;
      this.#retry = retry;
      const isApplicationEvent = this.#judge.take(part);
      this.#queue.push({ part, isApplicationEvent, retry: changed, judgement: undefined });
      this.#bind();
    }
  }

  #bind(): void {
    const { judgement } = this.#judge;
    for (const pending of this.#queue) pending.judgement ??= judgement;
  }

  #finish(end: 'eof' | 'reset' | 'aborted'): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#over.abort();
    this.#judge.end(end);
    this.#bind();
  }
}
