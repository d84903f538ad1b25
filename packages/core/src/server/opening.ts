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
  const token = declared ?? readFirst(epochReceived, subject, separator) ?? claim.epoch;
  return token === undefined
    ? undefined
    : { token, isSession: epochIsSession && gen === undefined };
}
