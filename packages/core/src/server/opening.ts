import type { CompiledProfile } from '../profile/compile.ts';
import type { Subject } from '../profile/place.ts';
import { readFirst } from '../profile/place.ts';
import type { HeaderFacts } from '../timeline/facts.ts';
import type { Claim } from '../timeline/lane-evidence.ts';
import type { Move } from '../timeline/logical-stream.ts';

/** What matters of a connection only until its stream is judged. */
export interface Opening {
  facts: HeaderFacts;
  readonly at: number;
  status: number | undefined;
  /** Set where the request announces a move that is refused. */
  move: Move | undefined;
  isAnnouncement: boolean;
}

export interface Epoch {
  readonly token: string;
  readonly isSession: boolean;
  /** Said by the log that answers, and no session. */
  readonly ofLog: string | undefined;
}

export function openingOf(facts: HeaderFacts, at: number): Opening {
  return { facts, at, status: undefined, move: undefined, isAnnouncement: false };
}

/**
 * `gen` belongs to the log; only what stands in for it may be a session. Other instances are told the
 * protocol's own token where there is one: those that do not stamp their answers yet know no other.
 */
export function epochOf(
  { epochReceived, separator, epochIsSession }: CompiledProfile,
  subject: Subject,
  claim: Claim,
): Epoch | undefined {
  const gen = String(subject.continuity?.get('gen') ?? '') || undefined;
  const answered = readFirst(epochReceived, subject, separator) || undefined;
  const token = gen ?? answered ?? claim.epoch;
  if (token === undefined) return undefined;
  const isSession = epochIsSession && gen === undefined;
  return { token, isSession, ofLog: epochIsSession ? gen : (answered ?? gen) };
}
