import type { Relation } from '../cursor/relate.ts';
import { belowFirstWanted } from '../cursor/relate.ts';
import type { Count, RefusedReason, UnverifiableReason, Verdict } from '../verdict.ts';

/** How the first event of the answer stands to what this process has written before. */
export type PayloadBefore = 'same' | 'other' | 'not_remembered';

/**
 * Where events may lie that were written to nobody and so are not in the log: not between the cursor
 * and what the answer begins with, right after the cursor, or only further on.
 */
export type Unseen = 'nowhere' | 'after_cursor' | 'further_on';

/** What an event store or the application declares about the cursor (V2, V3, V7). */
export interface Declared {
  readonly cursor: 'kept' | 'older_than_kept' | 'unknown';
  /** Positions lost, where the store can count them. */
  readonly missed: Count;
  /** Id of the cursor's successor in the store, where the store told it. */
  readonly next?: string | undefined;
  /** Nothing was stored after the cursor: any live event is its successor. */
  readonly isHead?: boolean;
}

/** Everything a server knows, at one moment, about one resume request that it answers. */
export interface ServerEvidence {
  readonly phase: 'open' | 'timed_out' | 'ended';
  readonly refusal: RefusedReason | undefined;
  readonly declared: Declared | undefined;
  /**
   * Index, in the log of what was written on this logical stream, of the event that a perfect
   * replay begins with: the length of the log when nothing was written since the cursor.
   * `undefined` when this process never wrote the cursor.
   */
  readonly wantedIndex: number | undefined;
  readonly logLength: number;
  readonly unseen: Unseen;
  readonly first:
    | {
        readonly id: string | undefined;
        /** To the cursor of the request. */
        readonly relation: Relation | undefined;
        /** Where it was written before; `undefined` when it is new here. */
        readonly index: number | undefined;
        readonly payload: PayloadBefore;
      }
    | undefined;
}

type Finding = Verdict | 'wait' | undefined;
type Rule = (e: ServerEvidence) => Finding;

/** V1 to V9 in order; the first that holds decides. */
const RULES: readonly Rule[] = [
  v1Refused,
  v2OlderThanKept,
  v3CursorUnknown,
  awaitFirstEvent,
  v4CursorNotAdvanced,
  v5EventsSkipped,
  v6IdReused,
  v7StoreReplayed,
  v8ReplayObserved,
  v9Unverifiable,
];

/** @returns the verdict, or `undefined` while the deciding byte has not been written. */
export function classifyServer(evidence: ServerEvidence): Verdict | undefined {
  for (const rule of RULES) {
    const finding = rule(evidence);
    if (finding === 'wait') return undefined;
    if (finding !== undefined) return finding;
  }
  return undefined;
}

/**
 * Whether the log began anew with this answer: it fell back to what it had never held. What it wrote
 * before under the ids that now follow was another log's.
 */
export function beginsAnew({ first }: ServerEvidence, verdict: Verdict | undefined): boolean {
  return verdict?.reason === 'cursor_not_advanced' && first?.index === undefined;
}

function v1Refused({ refusal }: ServerEvidence): Finding {
  return refusal === undefined ? undefined : { classification: 'refused', reason: refusal };
}

function v2OlderThanKept({ declared }: ServerEvidence): Finding {
  return declared?.cursor === 'older_than_kept' ? reoriginated('window_exceeded') : undefined;
}

function v3CursorUnknown({ declared }: ServerEvidence): Finding {
  return declared?.cursor === 'unknown' ? reoriginated('cursor_unknown') : undefined;
}

function awaitFirstEvent({ first, phase }: ServerEvidence): Finding {
  return first === undefined && phase === 'open' ? 'wait' : undefined;
}

/** A lower id is no fall-back when the log itself has it after the cursor. */
function v4CursorNotAdvanced({ first, wantedIndex }: ServerEvidence): Finding {
  if (first?.relation === undefined || !belowFirstWanted(first.relation)) return undefined;
  const wasWrittenAfter =
    wantedIndex !== undefined && first.index !== undefined && first.index >= wantedIndex;
  return wasWrittenAfter ? undefined : reoriginated('cursor_not_advanced');
}

/** What comes right after the cursor may be an event that nobody was sent: then nothing is skipped. */
function v5EventsSkipped(e: ServerEvidence): Finding {
  if (e.unseen === 'after_cursor') return undefined;
  const skipped = skippedBy(e);
  return skipped !== undefined && skipped > 0 ? reoriginated('window_exceeded') : undefined;
}

function v6IdReused({ first }: ServerEvidence): Finding {
  return first?.payload === 'other' ? reoriginated('id_reused') : undefined;
}

function v7StoreReplayed({ declared, first }: ServerEvidence): Finding {
  if (declared?.cursor !== 'kept' || first?.id === undefined) return undefined;
  return declared.isHead === true || first.id === declared.next
    ? { classification: 'resumed', reason: 'store_replayed' }
    : undefined;
}

function v8ReplayObserved({ first, wantedIndex, unseen }: ServerEvidence): Finding {
  if (unseen === 'after_cursor') return undefined;
  return first?.index !== undefined && first.index === wantedIndex && first.payload === 'same'
    ? { classification: 'resumed', reason: 'replay_observed' }
    : undefined;
}

function v9Unverifiable(e: ServerEvidence): Finding {
  return { classification: 'unverifiable', reason: whatIsMissing(e) };
}

function whatIsMissing({ first, wantedIndex }: ServerEvidence): UnverifiableReason {
  if (first === undefined) return 'no_events';
  if (first.id === undefined) return 'no_ids';
  return wantedIndex === undefined ? 'cursor_unknown_here' : 'no_window';
}

/** Events of the log between the cursor and what the answer begins with. */
function skippedBy({ first, wantedIndex, logLength }: ServerEvidence): number | undefined {
  if (first?.id === undefined || wantedIndex === undefined) return undefined;
  return (first.index ?? logLength) - wantedIndex;
}

/** Exact wherever the log or the store can count; 0 where nothing is lost silently (G1). */
export function missedByServer(verdict: Verdict, e: ServerEvidence): Count {
  if (verdict.classification === 'refused' || verdict.classification === 'resumed') return 0;
  if (verdict.reason !== 'window_exceeded') return 'unknown';
  if (e.declared?.cursor === 'older_than_kept') return e.declared.missed;
  return e.unseen === 'nowhere' ? (skippedBy(e) ?? 'unknown') : 'unknown';
}

function reoriginated(
  reason: Extract<Verdict, { classification: 'reoriginated' }>['reason'],
): Verdict {
  return { classification: 'reoriginated', reason };
}
