import type { CursorMeaning } from '../cursor/relate.ts';
import { parseWith } from '../cursor/relate.ts';
import { idTagOf } from '../id-tag.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { WrittenLog } from './written-log.ts';
import { numberedBy } from './written-log.ts';

/** Where in the log a perfect replay begins; `undefined` when this process never wrote the cursor. */
export function wantedIndex(
  log: WrittenLog,
  cursor: string,
  { choices }: CompiledProfile,
): number | undefined {
  const means: CursorMeaning = choices[0]?.means ?? 'last';
  const found = log.find(idTagOf(cursor), numberedBy(cursor));
  if (means !== 'next') return found === undefined ? undefined : found + 1;
  if (found !== undefined) return found;
  const { value } = parseWith(choices, cursor);
  if (value === undefined || value === 0n) return undefined;
  const preceding = String(value - 1n);
  const before = log.find(idTagOf(preceding), numberedBy(preceding));
  return before === undefined ? undefined : before + 1;
}
