import { candidatesFor, isConfirmed, signsMet } from '../profile/candidates.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { CompiledCondition } from '../profile/condition.ts';
import { anyHolds } from '../profile/condition.ts';
import type { PlaceSource, Subject } from '../profile/place.ts';
import type { HeaderFacts } from '../timeline/facts.ts';

/** @param subject What the facts say, as places see it. */
export type ChooseProfile = (facts: HeaderFacts, subject: Subject) => CompiledProfile;

const OF_HEADERS: ReadonlySet<PlaceSource> = new Set<PlaceSource>([
  'header',
  'req-header',
  'query',
  'path',
  'status',
]);

/**
 * Chooses the profile that the headers alone confirm; signs inside the frames would cost a look at
 * every one. Asked for each connection of a storm, so what no headers can confirm is sorted out
 * beforehand, and a built-in is looked at only once one of its signs came with the answer.
 */
export function headerChoice(
  profiles: readonly CompiledProfile[],
  generic: CompiledProfile,
): ChooseProfile {
  const able = profiles.filter(mayShowInHeaders);
  const fromServer = new Map(able.map((profile) => [profile, signsFromServer(profile)]));
  const users = able.filter(({ builtIn }) => !builtIn);
  return ({ request, responseHeaders }, subject) => {
    // Most answers have none of the headers that some profile reads.
    const within = responseHeaders.size === 0 ? users : able;
    if (within.length === 0) return generic;
    const { confirmed, open } = candidatesFor(within, request.transport, request.target);
    const shown = open.find((profile) => {
      const owed = profile.builtIn ? (fromServer.get(profile) ?? []) : undefined;
      if (owed !== undefined && !anyHolds(owed, subject)) return false;
      return isConfirmed(profile, signsMet(profile, subject));
    });
    return shown ?? confirmed ?? generic;
  };
}

function mayShowInHeaders(profile: CompiledProfile): boolean {
  const { signs, signsNeeded, builtIn } = profile;
  if (signs.length === 0) return true;
  const within = signs.filter(({ condition }) => isOfHeaders(condition));
  return within.length >= signsNeeded && (!builtIn || signsFromServer(profile).length > 0);
}

function signsFromServer({ signs }: CompiledProfile): CompiledCondition[] {
  return signs
    .map(({ condition }) => condition)
    .filter((condition) => isOfHeaders(condition) && isOfAnswer(condition));
}

function isOfAnswer({ parts }: CompiledCondition): boolean {
  return parts.some(({ source }) => source === 'header');
}

function isOfHeaders({ parts }: CompiledCondition): boolean {
  return parts.every(({ source }) => OF_HEADERS.has(source));
}
