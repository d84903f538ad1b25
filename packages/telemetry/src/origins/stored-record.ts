import type { DeclaredEpoch, OtherIssuer } from '@sameriver/core';
import type { IssuedRecord } from './origin-index.ts';

type Stored = Omit<OtherIssuer, 'writtenAgo'>;

const LONGEST_TEXT = 128;
const MOST_RUNS = 8;
const MOST_TAGS = 64;

/** A record as text, without what the store adds: who and when. */
export function storedText({ instance, epoch, ids }: IssuedRecord): string {
  const { runs, tags } = ids;
  const declared = epoch && [epoch.digest, ...(epoch.text === undefined ? [] : [epoch.text])];
  return JSON.stringify({ instance, ...(declared && { epoch: declared }), runs, tags });
}

/** @returns `undefined` for what nobody of ours has written. */
export function readStored(text: string): Stored | undefined {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { instance, epoch, runs, tags }: Record<string, unknown> = { ...value };
  if (!isText(instance) || !isListOf(runs, MOST_RUNS, isRun)) return undefined;
  if (!isListOf(tags, MOST_TAGS, isTag)) return undefined;
  const declared = epoch === undefined ? undefined : readEpoch(epoch);
  if (epoch !== undefined && declared === undefined) return undefined;
  return { instance, epoch: declared, ids: { runs, tags } };
}

function readEpoch(value: unknown): DeclaredEpoch | undefined {
  if (!isListOf(value, 2, isText)) return undefined;
  const [digest, text] = value;
  return digest !== undefined && /^[0-9a-f]{16}$/.test(digest) ? { digest, text } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isListOf<Item>(
  value: unknown,
  most: number,
  isItem: (item: unknown) => item is Item,
): value is Item[] {
  return Array.isArray(value) && value.length <= most && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= LONGEST_TEXT;
}

function isTag(value: unknown): value is number {
  return isPosition(value) && value < 2 ** 31;
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isRun(value: unknown): value is [number, number] {
  if (!isListOf(value, 2, isPosition)) return false;
  const [first, last] = value;
  return first !== undefined && last !== undefined && first <= last;
}
