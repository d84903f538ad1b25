import type { CodecChoice } from '../cursor/relate.ts';
import { distanceFromWanted, relate } from '../cursor/relate.ts';
import type { ContinuityMembers } from '../profile/place.ts';
import type { Declared } from './classify-server.ts';

/** What the application itself declares about the cursor, in its `Stream-Continuity` field. */
export function declaredBy(
  continuity: ContinuityMembers | undefined,
  cursor: string,
  choices: readonly CodecChoice[],
): Declared | undefined {
  if (continuity === undefined) return undefined;
  const reason = continuity.get('reason');
  if (continuity.get('status') === 'reset' && (reason === 'unknown-id' || reason === 'other-gen')) {
    return { cursor: 'unknown', missed: 'unknown', replaysSuccessor: false };
  }
  const oldest = continuity.get('oldest');
  const relation = typeof oldest === 'string' ? relate(choices, cursor, oldest) : undefined;
  const beyond = relation && distanceFromWanted(relation);
  const isOlder = beyond === undefined ? relation?.order === 'after' : beyond > 0n;
  if (!isOlder && reason !== 'evicted') return undefined;
  const countable = continuity.get('dense') === true && beyond !== undefined && beyond > 0n;
  return {
    cursor: 'older_than_kept',
    missed: countable ? Number(beyond) : 'unknown',
    replaysSuccessor: false,
  };
}
