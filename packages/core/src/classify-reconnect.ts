import type { Classification } from './verdict.ts';

export interface ReconnectFacts {
  readonly requestedLastEventId: number;
  readonly requestedGeneration: string;
  readonly firstEventId: number;
  readonly firstEventGeneration: string;
  /** The server promises to replay from a window; this function takes its word for the reach. */
  readonly serverDeclaresReplayWindow: boolean;
}

/**
 * The decision in its smallest form: integer ids, one generation token, one declared flag. The full
 * rules (`classify`) are stricter only where the window is known not to cover the cursor.
 */
export function classifyReconnect(facts: ReconnectFacts): Classification {
  if (facts.firstEventGeneration !== facts.requestedGeneration) return 'reoriginated';
  if (facts.firstEventId <= facts.requestedLastEventId) return 'reoriginated';
  return facts.serverDeclaresReplayWindow ? 'resumed' : 'unverifiable';
}
