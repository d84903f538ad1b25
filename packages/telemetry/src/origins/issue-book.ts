import { randomUUID } from 'node:crypto';
import type { DeclaredEpoch, IssuedIds, WrittenStream } from '@sameriver/core';
import { processWide } from '@sameriver/core';
import { captured } from '../capture.ts';
import type { CaptureOptions } from '../types.ts';
import { createAnswerLimit } from './answer-limit.ts';
import type { IssuedRecord, OriginIndex } from './origin-index.ts';

/** How long what was issued may stay untold, in milliseconds. */
const INTERVAL = 1_000;
/** A record that lives for an hour is told again while its stream is open and idle. */
const REFRESH = 600_000;
const RECORDS_AT_ONCE = 512;
/** Streams that wait to be told while the index does not answer. */
const MOST_WAITING = 4_096;

const issuing = processWide('origin-issuer', () => ({ id: randomUUID(), records: 0 }));

const NONE: IssuedIds = { runs: [], tags: [] };

/** What is known of a stream under one epoch of its log. */
interface Entry {
  readonly issuer: string;
  readonly epochText: string | undefined;
  readonly epoch: DeclaredEpoch | undefined;
  /** Index, in the log, of the first id of this epoch. */
  readonly from: number;
  readonly begunAt: number;
  /** Length of the log when it was last told, and when that was. */
  told: number;
  toldAt: number;
  writtenAt: number;
}

export interface IssueBookOptions {
  readonly index: OriginIndex;
  readonly instance: string;
  readonly capture: CaptureOptions;
  readonly now: () => number;
  failed(): void;
}

/** How an index calls a logical stream: a hash of its key (L4). */
export function streamOf({ tag }: WrittenStream): string {
  return tag.toString(36);
}

export function isOfThisProcess(issuer: string): boolean {
  return issuer.startsWith(`${issuing.id}.`);
}

/**
 * Tells an index what this process issues. It looks at each stream once a second and at the end of
 * a connection, and never at an event.
 */
export class IssueBook {
  readonly #options: IssueBookOptions;
  readonly #entries = new WeakMap<WrittenStream, Entry>();
  /** Epochs that a log has left. One that comes back makes its ids nobody's. */
  readonly #left = new WeakMap<WrittenStream, Set<string>>();
  readonly #watched = new Set<WrittenStream>();
  readonly #waiting = new Set<WrittenStream>();
  readonly #limited = createAnswerLimit();
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  #isTelling = false;

  constructor(options: IssueBookOptions) {
    this.#options = options;
  }

  /** A connection of the stream is up. */
  watch(stream: WrittenStream, epochText: string | undefined): void {
    const entry = this.#entries.get(stream);
    const isAnother = epochText !== undefined && entry?.epochText !== epochText;
    if (entry === undefined || isAnother) this.#enter(stream, epochText, entry);
    this.#watched.add(stream);
    this.#arm();
  }

  /** A connection of the stream has ended: its reader may be somewhere else in a moment. */
  leave(stream: WrittenStream): void {
    if (!this.#isDue(stream)) return;
    this.#wait(stream);
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      void this.#tell();
    });
  }

  /** What this process says of the stream's log; its epoch only where the last connection said it. */
  epochOf(stream: WrittenStream, epochText: string | undefined): DeclaredEpoch | undefined {
    const entry = this.#entries.get(stream);
    return epochText === undefined ? undefined : entry?.epoch;
  }

  /** Milliseconds since this process began to write the stream. */
  begunAgo(stream: WrittenStream): number {
    const { now } = this.#options;
    return now() - (this.#entries.get(stream)?.begunAt ?? now());
  }

  /** Tells what is left to tell and stops its timers. */
  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#soon);
    this.#timer = undefined;
    this.#soon = undefined;
    this.#look();
    this.#watched.clear();
    void this.#tell();
  }

  #enter(stream: WrittenStream, epochText: string | undefined, before: Entry | undefined): void {
    const left = this.#left.get(stream) ?? new Set<string>();
    if (before?.epochText !== undefined) this.#left.set(stream, left.add(before.epochText));
    issuing.records += 1;
    this.#entries.set(stream, {
      issuer: `${issuing.id}.${issuing.records.toString(36)}`,
      epochText,
      epoch: declared(epochText, this.#options.capture),
      // Of the ids so far nobody knows under which epoch they were issued.
      from: before === undefined ? 0 : stream.log.length,
      begunAt: before?.begunAt ?? this.#options.now(),
      told: 0,
      toldAt: 0,
      writtenAt: 0,
    });
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#watched.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#look();
      void this.#tell();
      this.#arm();
    }, INTERVAL).unref();
  }

  #look(): void {
    for (const stream of this.#watched) {
      if (this.#isDue(stream)) this.#wait(stream);
      if (stream.open === 0) this.#watched.delete(stream);
    }
  }

  #isDue(stream: WrittenStream): boolean {
    const entry = this.#entries.get(stream);
    if (entry === undefined) return false;
    if (!this.#isNameable(stream, entry)) return entry.told > 0;
    if (stream.log.length <= entry.from) return false;
    return stream.log.length !== entry.told || this.#options.now() - entry.toldAt > REFRESH;
  }

  /** An id of this log stands for one event of one epoch. */
  #isNameable(stream: WrittenStream, { epochText }: Entry): boolean {
    if (stream.log.reusesIds) return false;
    return epochText === undefined || this.#left.get(stream)?.has(epochText) !== true;
  }

  #wait(stream: WrittenStream): void {
    this.#waiting.add(stream);
    if (this.#waiting.size <= MOST_WAITING) return;
    const [oldest] = this.#waiting;
    if (oldest !== undefined) this.#waiting.delete(oldest);
  }

  /** One call at a time: an index that does not answer is not sent more. */
  async #tell(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    let isHeard = true;
    while (isHeard && this.#waiting.size > 0) isHeard = await this.#tellSome();
    this.#isTelling = false;
  }

  async #tellSome(): Promise<boolean> {
    const batch = [...this.#waiting].slice(0, RECORDS_AT_ONCE);
    for (const stream of batch) this.#waiting.delete(stream);
    try {
      const records = batch.flatMap((stream) => this.#record(stream) ?? []);
      await this.#limited(this.#options.index.issued(records));
      return true;
    } catch {
      this.#options.failed();
      for (const stream of batch) this.#retry(stream);
      return false;
    }
  }

  #retry(stream: WrittenStream): void {
    const entry = this.#entries.get(stream);
    if (entry !== undefined) entry.told = -1;
    this.#watched.add(stream);
    this.#arm();
  }

  #record(stream: WrittenStream): IssuedRecord | undefined {
    const entry = this.#entries.get(stream);
    if (entry === undefined) return undefined;
    const { log } = stream;
    const { instance, capture, now } = this.#options;
    const at = now();
    const isNameable = this.#isNameable(stream, entry);
    if (log.length !== entry.told) entry.writtenAt = at;
    entry.told = isNameable ? log.length : 0;
    entry.toldAt = at;
    return {
      stream: streamOf(stream),
      issuer: entry.issuer,
      instance,
      epoch: entry.epoch,
      writtenAgo: at - entry.writtenAt,
      ids: isNameable ? log.idsFrom(entry.from, capture.cursor === 'hash') : NONE,
    };
  }
}

function declared(text: string | undefined, capture: CaptureOptions): DeclaredEpoch | undefined {
  const digest = captured(text, 'hash');
  if (digest === undefined) return undefined;
  const shown = capture.epoch === undefined || capture.epoch === 'raw';
  return { digest, text: shown ? captured(text, 'raw') : undefined };
}
