import type { Relation } from './cursor/relate.ts';
import { belowFirstWanted, distanceFromWanted } from './cursor/relate.ts';
import type { Evidence } from './evidence.ts';
import type { Count, UnverifiableReason, Verdict } from './verdict.ts';

/**
 * The idea of this project on one page.
 *
 * A stream that is open, answers 200 and delivers well-formed ids proves nothing: absence of a
 * discontinuity signal is not evidence of continuity. So proofs of a discontinuity are looked at
 * first, then positive proofs of continuity, and what is left is `unverifiable`, with what was
 * missing as its reason. Normative text: `docs/spec/verdicts.md`.
 */

/** `wait`: the deciding byte may still come. `undefined`: this rule has nothing to say. */
type Finding = Verdict | 'wait' | undefined;
type Rule = (e: Evidence) => Finding;

/** In order of precedence; the first that speaks decides. */
const RULES: readonly Rule[] = [
  r1Refused,
  r2EpochChanged,
  r3ResetSignalled,
  r4EchoDiffers,
  r5WindowExceeded,
  r6TailBelowCursor,
  r7CursorNotAdvanced,
  r8IdReused,
  r9NeverResumes,
  r10DeclaredResumed,
  awaitDeclaration,
  awaitFirstEvent,
  r11CursorEchoed,
  r12EpochAndWindow,
  r13NextInSequence,
  r14Overlap,
  r15Unverifiable,
];

/** @returns the verdict, or `undefined` while it is pending (R16). */
export function classify(evidence: Evidence): Verdict | undefined {
  for (const rule of RULES) {
    const finding = rule(evidence);
    if (finding === 'wait') return undefined;
    if (finding !== undefined) return finding;
  }
  return undefined;
}

function r1Refused(e: Evidence): Finding {
  if (e.refusal !== undefined) return { classification: 'refused', reason: e.refusal };
  if (e.reset && !e.deliveredSinceReset && e.phase === 'ended') {
    return { classification: 'refused', reason: 'refusal_frame' };
  }
  return undefined;
}

function r2EpochChanged(e: Evidence): Finding {
  return e.epoch !== undefined && e.heldEpoch !== undefined && e.epoch !== e.heldEpoch
    ? reoriginated('epoch_changed')
    : undefined;
}

/** After a reset signal only the end, an event or the timeout tells a refusal from a fresh start. */
function r3ResetSignalled(e: Evidence): Finding {
  if (e.origin && e.sentCursor !== undefined) return reoriginated('origin_frame');
  if (!e.reset) return undefined;
  return e.deliveredSinceReset || e.phase === 'timed_out'
    ? reoriginated('reset_signalled')
    : 'wait';
}

function r4EchoDiffers(e: Evidence): Finding {
  return e.sentCursor !== undefined && e.echo !== undefined && e.echo !== e.sentCursor
    ? reoriginated('echo_mismatch')
    : undefined;
}

function r5WindowExceeded(e: Evidence): Finding {
  if (e.window === 'does_not_cover') return reoriginated('window_exceeded');
  const hole = e.first?.relation && distanceFromWanted(e.first.relation);
  return e.first?.relation?.dense && sameEpoch(e) && hole !== undefined && hole > 0n
    ? reoriginated('window_exceeded')
    : undefined;
}

function r6TailBelowCursor(e: Evidence): Finding {
  return e.tail && tailIsBelow(e.tail) ? reoriginated('tail_below_cursor') : undefined;
}

function r7CursorNotAdvanced({ first }: Evidence): Finding {
  if (first?.relation === undefined) return undefined;
  const { order, means } = first.relation;
  const repeatedOther = means === 'inclusive' && order === 'same' && first.payload === 'other';
  return belowFirstWanted(first.relation) || repeatedOther
    ? reoriginated('cursor_not_advanced')
    : undefined;
}

function r8IdReused({ first }: Evidence): Finding {
  return first?.payload === 'other' ? reoriginated('id_reused') : undefined;
}

function r9NeverResumes(e: Evidence): Finding {
  return e.neverResumes ? reoriginated('protocol_never_resumes') : undefined;
}

function r10DeclaredResumed(e: Evidence): Finding {
  return e.declaredResumed ? { classification: 'resumed', reason: 'server_declared' } : undefined;
}

/** Socket.IO, Discord and AnyCable speak their verdict after the replay. */
function awaitDeclaration(e: Evidence): Finding {
  return e.mayDeclare && e.phase === 'open' ? 'wait' : undefined;
}

/**
 * What a header promises can be refuted by the first event, so that one is waited for: unless
 * nothing is known that an event could say.
 */
function awaitFirstEvent(e: Evidence): Finding {
  if (e.phase !== 'open' || !e.hasProfile) return undefined;
  return !e.delivered || e.positionMayFollow ? 'wait' : undefined;
}

function r11CursorEchoed(e: Evidence): Finding {
  return e.sentCursor !== undefined && e.echo === e.sentCursor
    ? { classification: 'resumed', reason: 'cursor_echoed' }
    : undefined;
}

/** A window helps only who asks: without a sent cursor the server starts wherever it likes. */
function r12EpochAndWindow(e: Evidence): Finding {
  const declared = e.window === 'covers' || e.window === 'unstated_reach';
  return declared && e.sentCursor !== undefined && sameEpoch(e) && isAfterCursor(e)
    ? { classification: 'resumed', reason: 'epoch_and_window' }
    : undefined;
}

function r13NextInSequence(e: Evidence): Finding {
  const relation = proving(e);
  if (!relation?.dense || !sameEpoch(e)) return undefined;
  const isWanted = relation.means === 'inclusive' && relation.order === 'same';
  return isWanted || distanceFromWanted(relation) === 0n
    ? { classification: 'resumed', reason: 'next_in_sequence' }
    : undefined;
}

function r14Overlap(e: Evidence): Finding {
  const relation = proving(e);
  return relation?.means === 'inclusive' && relation.order === 'same' && e.first?.payload === 'same'
    ? { classification: 'resumed', reason: 'overlap' }
    : undefined;
}

function r15Unverifiable(e: Evidence): Finding {
  return { classification: 'unverifiable', reason: whatIsMissing(e) };
}

function whatIsMissing(e: Evidence): UnverifiableReason {
  // M3: whatever else is missing, a move without a cursor asked for nothing.
  if (e.migrates && e.sentCursor === undefined) return 'cursor_not_sent';
  if (!e.hasProfile) return 'no_profile';
  if (e.expectedCursor !== undefined && e.sentCursor === undefined) return 'cursor_not_sent';
  if (!e.delivered) return 'no_events';
  const told = proving(e) ?? e.tail;
  if (e.expectedCursor === undefined || told === undefined) return 'no_ids';
  if (told.order === 'incomparable') return 'not_comparable';
  return sameEpoch(e) ? 'no_window' : 'no_epoch';
}

/**
 * G1. A number only when dense positions of one epoch prove it; nothing is lost silently where the
 * server refuses or resumes.
 */
export function missedBy(verdict: Verdict, e: Evidence): Count {
  if (verdict.classification === 'refused' || verdict.classification === 'resumed') return 0;
  if (verdict.classification === 'unverifiable' || !sameEpoch(e)) return 'unknown';
  // Where these were found, the positions are not those of one log.
  if (verdict.reason === 'id_reused' || verdict.reason === 'tail_below_cursor') return 'unknown';
  const hole = holeUpTo(e);
  return hole !== undefined && hole >= 0n ? Number(hole) : 'unknown';
}

/** The next position delivered, else the oldest kept, else (recovery denied) the end of the log. */
function holeUpTo(e: Evidence): bigint | undefined {
  if (e.first !== undefined) {
    return e.first.relation?.dense ? distanceFromWanted(e.first.relation) : undefined;
  }
  if (e.window === 'does_not_cover' && e.oldest?.dense) return distanceFromWanted(e.oldest);
  const beyondTail = e.reset && e.tail?.dense ? distanceFromWanted(e.tail) : undefined;
  return beyondTail === undefined ? undefined : beyondTail + 1n;
}

function sameEpoch(e: Evidence): boolean {
  return e.epoch !== undefined && e.epoch === e.heldEpoch;
}

/** What the first event may prove; an id that came later can only refute. */
function proving({ first }: Evidence): Relation | undefined {
  return first?.isLate ? undefined : first?.relation;
}

function isAfterCursor(e: Evidence): boolean {
  const relation = proving(e);
  if (relation === undefined || relation.order === 'incomparable') return false;
  if (relation.order === 'after') return true;
  // What is known to be the acknowledged event itself is an overlap, which has its own rule.
  const mayBeWanted = relation.means === 'next' || e.first?.payload !== 'same';
  return relation.order === 'same' && relation.means !== 'last' && mayBeWanted;
}

/** A log that ends at `n` wants `n + 1` next, so for `next` cursors equality begins one later. */
function tailIsBelow({ order, means, cursor, other }: Evidence['tail'] & object): boolean {
  if (means === 'next' && cursor.value !== undefined && other.value !== undefined) {
    return order !== 'incomparable' && other.value + 1n < cursor.value;
  }
  // A log whose end is told by the first key alone holds all that this key begins.
  if (other.isWhole && other.keys?.[0] === cursor.keys?.[0]) return false;
  return order === 'before';
}

function reoriginated(
  reason: Extract<Verdict, { classification: 'reoriginated' }>['reason'],
): Verdict {
  return { classification: 'reoriginated', reason };
}
