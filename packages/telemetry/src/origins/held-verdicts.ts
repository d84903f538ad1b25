import { processWide } from '@sameriver/core';

/** Whoever holds verdicts back in this process. */
export const heldVerdicts: Set<{ stop(): void }> = processWide('held-verdicts', () => new Set());

/** Tells all that is held back as it is: for the end of a process, which waits for no index. */
export function tellHeldVerdicts(): void {
  for (const holder of heldVerdicts) holder.stop();
}
