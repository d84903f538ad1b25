import { candidatesFor, isConfirmed, signsMet } from '../profile/candidates.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { CompiledCondition } from '../profile/condition.ts';
import { anyHolds } from '../profile/condition.ts';
import type { PlaceSource } from '../profile/place.ts';
import type { HeaderFacts } from '../timeline/facts.ts';
import { subjectOf } from '../timeline/facts.ts';

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
 * beforehand, and a built-in is looked at only once one of its signs came from the server.
 */
export function headerChoice(
  profiles: readonly CompiledProfile[],
  generic: CompiledProfile,
): (facts: HeaderFacts) => CompiledProfile {
  const able = profiles.filter(mayShowInHeaders);
  const fromServer = new Map(able.map((profile) => [profile, signsFromServer(profile)]));
  return (facts) => {
    const { target, transport } = facts.request;
    const { confirmed, open } = candidatesFor(able, transport, target);
    const subject = subjectOf(facts, []);
    const isAnswered = facts.status !== undefined;
    const shown = open.find((profile) => {
      const owed = profile.builtIn ? (fromServer.get(profile) ?? []) : undefined;
      if (owed !== undefined && !(isAnswered && anyHolds(owed, subject))) return false;
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
    .filter((sign) => sign.fromServer)
    .map(({ condition }) => condition)
    .filter(isOfHeaders);
}

function isOfHeaders({ parts }: CompiledCondition): boolean {
  return parts.every(({ source }) => OF_HEADERS.has(source));
}
