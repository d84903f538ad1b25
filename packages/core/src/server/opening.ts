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
  readonly isDeclared: boolean;
}

export function openingOf(facts: HeaderFacts, at: number): Opening {
  return { facts, at, status: undefined, move: undefined, isAnnouncement: false };
}

/** `gen` belongs to the log; only what stands in for it may be a session. */
export function epochOf(
  { epochReceived, separator, epochIsSession }: CompiledProfile,
  subject: Subject,
  claim: Claim,
): Epoch | undefined {
  const gen = subject.continuity?.get('gen');
  const declared = String(gen ?? '') || undefined;
  const answered = declared ?? readFirst(epochReceived, subject, separator);
  const token = answered ?? claim.epoch;
  if (token === undefined) return undefined;
  const isSession = epochIsSession && gen === undefined;
  return { token, isSession, isDeclared: Boolean(answered) && !isSession };
}
