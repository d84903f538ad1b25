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
  const status = continuity.get('status');
  if (status === 'reset' && (reason === 'unknown-id' || reason === 'other-gen')) {
    return { cursor: 'unknown', missed: 'unknown' };
  }
  if (status === 'resumed' && continuity.get('from') === cursor) return kept(continuity, cursor);
  const oldest = continuity.get('oldest');
  const relation = typeof oldest === 'string' ? relate(choices, cursor, oldest) : undefined;
  const beyond = relation && distanceFromWanted(relation);
  const isOlder = beyond === undefined ? relation?.order === 'after' : beyond > 0n;
  if (!isOlder && reason !== 'evicted') return undefined;
  const countable = continuity.get('dense') === true && beyond !== undefined && beyond > 0n;
  return {
    cursor: 'older_than_kept',
    missed: countable ? Number(beyond) : 'unknown',
  };
}

/** `next` is the successor; the newest position equal to the cursor says that there is none yet. */
function kept(continuity: ContinuityMembers, cursor: string): Declared {
  const next = continuity.get('next');
  const isHead = next === undefined && continuity.get('newest') === cursor;
  return { cursor: 'kept', missed: 0, isHead, ...(typeof next === 'string' && { next }) };
}
