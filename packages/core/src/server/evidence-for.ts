import { distanceFromWanted, relate } from '../cursor/relate.ts';
import { idTagOf } from '../id-tag.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { ContinuityMembers } from '../profile/place.ts';
import type { PayloadBefore, ServerEvidence, Unseen } from './classify-server.ts';
import { declaredBy } from './declared.ts';
import { wantedIndex } from './wanted-index.ts';
import type { WrittenLog } from './written-log.ts';

/** Evidence as it gathers. */
export type GatheringEvidence = { -readonly [K in keyof ServerEvidence]: ServerEvidence[K] };

type First = NonNullable<ServerEvidence['first']>;

/** What is known of a resume request before anything is written to it. */
export function evidenceFor(
  log: WrittenLog,
  cursor: string,
  profile: CompiledProfile,
  continuity: ContinuityMembers | undefined,
): GatheringEvidence {
  return {
    phase: 'open',
    refusal: undefined,
    declared: declaredBy(continuity, cursor, profile.choices),
    wantedIndex: isTrusted(log) ? wantedIndex(log, cursor, profile) : undefined,
    logLength: log.length,
    unseen: 'nowhere',
    first: undefined,
  };
}

/** The first event written, as the log knew it before. */
export interface FirstWritten {
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly payload: PayloadBefore;
  /** Length of the log before this event. */
  readonly logLength: number;
}

/** Enters the event that decides. */
export function noteFirstWritten(
  evidence: GatheringEvidence,
  log: WrittenLog,
  cursor: string,
  { choices }: CompiledProfile,
  { id, index, payload, logLength }: FirstWritten,
): void {
  const trusted = isTrusted(log);
  if (id !== undefined) evidence.logLength = logLength;
  evidence.first = {
    id,
    relation: id === undefined ? undefined : relate(choices, cursor, id),
    index: trusted ? index : undefined,
    payload: trusted ? payload : 'not_remembered',
  };
  if (!trusted) evidence.wantedIndex = undefined;
  evidence.unseen = unseenIn(log, evidence);
}

/** Asked only now: a connection that was open all along may have closed a seam meanwhile. */
function unseenIn(log: WrittenLog, { wantedIndex, first, logLength }: ServerEvidence): Unseen {
  const index = first?.index ?? logLength;
  if (wantedIndex === undefined || first === undefined) return 'nowhere';
  if (wantedIndex > Math.min(index, logLength - 1)) return 'nowhere';
  if (log.isMixed) return 'after_cursor';
  const follows = isNumberedAfter(log, index - 1, first);
  if (log.isSeam(wantedIndex)) {
    const skips = first.index !== undefined && !log.isSeam(index) && follows;
    return skips && isBeyondWanted(first) ? 'further_on' : 'after_cursor';
  }
  if (index === logLength && log.wasAbandonedAt(logLength) && !follows) return 'further_on';
  return log.hasSeamWithin(wantedIndex, Math.min(index, logLength - 1)) ? 'further_on' : 'nowhere';
}

/** Whether the entry at `index` has the number right below the one of the first event. */
function isNumberedAfter(log: WrittenLog, index: number, { relation }: First): boolean {
  const { value } = relation?.other ?? {};
  return value !== undefined && value > 0n && log.holdsAt(index, idTagOf(String(value - 1n)));
}

function isBeyondWanted({ relation }: First): boolean {
  return relation !== undefined && (distanceFromWanted(relation) ?? 0n) > 0n;
}

/** What one connection was sent says something about the others. */
function isTrusted({ isFiltered, reusesIds }: WrittenLog): boolean {
  return !isFiltered && !reusesIds;
}
