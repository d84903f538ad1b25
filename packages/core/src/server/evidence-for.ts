import { relate } from '../cursor/relate.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { ContinuityMembers } from '../profile/place.ts';
import type { PayloadBefore, ServerEvidence } from './classify-server.ts';
import { declaredBy } from './declared.ts';
import { wantedIndex } from './wanted-index.ts';
import type { WrittenLog } from './written-log.ts';

/** Evidence as it gathers. */
export type GatheringEvidence = { -readonly [K in keyof ServerEvidence]: ServerEvidence[K] };

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
}

/** What one connection was sent says something about the others. */
function isTrusted({ isFiltered, reusesIds }: WrittenLog): boolean {
  return !isFiltered && !reusesIds;
}
