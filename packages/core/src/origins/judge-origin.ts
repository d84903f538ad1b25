import type { Verdict } from '../verdict.ts';
import type { IssuedIds, IssuedPlace } from './issued-ids.ts';
import { placeIn } from './issued-ids.ts';
import { isUnmistakable } from './unmistakable.ts';

/** What a log declares of itself. */
export interface DeclaredEpoch {
  /** What two of them are compared by. */
  readonly digest: string;
  /** As it was declared, where it may be told. */
  readonly text: string | undefined;
}

/** Another process that has issued ids on the same logical stream. */
export interface OtherIssuer {
  readonly instance: string;
  /** `undefined`: its log declares none. */
  readonly epoch: DeclaredEpoch | undefined;
  /** Milliseconds since it is known to have written last; it may have done so since. */
  readonly writtenAgo: number;
  readonly ids: IssuedIds;
}

/** One verdict of this process, and what it rests on. */
export interface OwnFinding {
  readonly verdict: Verdict;
  readonly cursor: string;
  /** Declared by the log that answers. */
  readonly epoch: DeclaredEpoch | undefined;
  /** This process has issued the cursor; `undefined` where its log cannot tell. */
  readonly issuedHere: boolean | undefined;
  /** Milliseconds since this process began to write the stream. */
  readonly begunAgo: number;
}

/** Who is known to have issued the cursor. */
export interface Origin {
  readonly instance: string;
  readonly epoch: DeclaredEpoch | undefined;
  /** Its newest id, where ids are consecutive integers. */
  readonly newest: number | undefined;
  /** Events it is known to have issued after the cursor: a lower bound, as what is known lags. */
  readonly eventsAfter: number;
}

export interface JudgedOrigin {
  readonly verdict: Verdict;
  readonly origin: Origin | undefined;
}

interface Candidate {
  readonly issuer: OtherIssuer;
  readonly place: IssuedPlace;
}

/** Whether what others have issued can say more than this verdict does (X1 to X4). */
export function asksForOrigin({ classification, reason }: Verdict): boolean {
  if (classification === 'resumed') return true;
  if (classification === 'unverifiable') return reason !== 'no_window';
  return reason === 'cursor_not_advanced' || reason === 'cursor_unknown';
}

/**
 * What other instances have issued, applied to a verdict. It never makes a `resumed`, and accuses
 * only a log that says itself that it is another one (X1).
 */
export function judgeOrigin(own: OwnFinding, others: readonly OtherIssuer[]): JudgedOrigin {
  const candidates = candidatesFor(own.cursor, others);
  if (own.verdict.classification === 'resumed') return attribute(own, candidates);
  if (own.issuedHere !== false) return { verdict: own.verdict, origin: undefined };
  const same = candidates.find(({ issuer }) => isSameLog(own, issuer));
  if (same !== undefined) return { verdict: own.verdict, origin: originOf(same) };
  const other = candidates.find((candidate) => isProvenOther(own, candidate));
  if (other !== undefined) return { verdict: EPOCH_CHANGED, origin: originOf(other) };
  const [latest] = candidates;
  return { verdict: own.verdict, origin: latest && originOf(latest) };
}

const EPOCH_CHANGED: Verdict = { classification: 'reoriginated', reason: 'epoch_changed' };
const NOT_ATTRIBUTABLE: Verdict = {
  classification: 'unverifiable',
  reason: 'cursor_issued_elsewhere',
};

/** Those that have issued the cursor, who wrote last first. */
function candidatesFor(cursor: string, others: readonly OtherIssuer[]): Candidate[] {
  return others
    .flatMap((issuer) => {
      const place = placeIn(issuer.ids, cursor);
      return place === undefined ? [] : { issuer, place };
    })
    .sort((left, right) => left.issuer.writtenAgo - right.issuer.writtenAgo);
}

/** X4: a replay of the own log proves nothing to a reader that may come from another one. */
function attribute(own: OwnFinding, candidates: readonly Candidate[]): JudgedOrigin {
  const rival = candidates.find(({ issuer }) => mayHaveBeenRead(own, issuer));
  if (rival === undefined) return { verdict: own.verdict, origin: undefined };
  return { verdict: NOT_ATTRIBUTABLE, origin: originOf(rival) };
}

/** What was written before the own log began was read before any of it. */
function mayHaveBeenRead(own: OwnFinding, issuer: OtherIssuer): boolean {
  if (isSameLog(own, issuer) || issuer.writtenAgo > own.begunAgo) return false;
  if (own.epoch !== undefined && issuer.epoch !== undefined) return true;
  // Two instances cannot both have made it up: they write one log.
  return !isUnmistakable(own.cursor, issuer.epoch?.text);
}

/** X2: declared equal. */
function isSameLog({ epoch }: OwnFinding, issuer: OtherIssuer): boolean {
  return epoch !== undefined && epoch.digest === issuer.epoch?.digest;
}

/**
 * X1: both logs are declared, they differ, and this one has shown that the cursor is none of its
 * own. That this instance never wrote it is not enough: another one of the same log may have, which
 * nobody has heard of yet.
 */
function isProvenOther({ epoch, verdict, cursor }: OwnFinding, { issuer }: Candidate): boolean {
  if (epoch === undefined || issuer.epoch === undefined) return false;
  return verdict.classification === 'reoriginated' || isUnmistakable(cursor, issuer.epoch.text);
}

function originOf({ issuer, place }: Candidate): Origin {
  const { instance, epoch } = issuer;
  return { instance, epoch, newest: place.newest, eventsAfter: place.after };
}
