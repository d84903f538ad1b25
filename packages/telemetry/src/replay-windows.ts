import {
  METRIC_SERVER_REPLAY_WINDOW_LIMIT,
  METRIC_SERVER_REPLAY_WINDOW_USAGE,
} from './metric-definitions.ts';
import { processWindows } from './process-windows.ts';
import type { Tally } from './tally.ts';
import type { ReplayWindow } from './types.ts';

/** Gauges of the replay windows of this process: of each protocol, the fullest one. */
export interface ReplayWindows {
  add(read: () => ReplayWindow | undefined): () => void;
  refresh(): void;
}

export function createReplayWindows(
  tally: Tally,
  labelOf: (protocol: string) => string,
): ReplayWindows {
  const readers = new Set<() => ReplayWindow | undefined>();

  function fullest(): Map<string, ReplayWindow> {
    const found = new Map<string, ReplayWindow>();
    for (const read of [...readers, ...processWindows]) {
      const window = read();
      if (window === undefined) continue;
      const label = labelOf(window.protocol ?? 'sse');
      const rival = found.get(label);
      if (rival === undefined || fill(window) > fill(rival)) found.set(label, window);
    }
    return found;
  }

  return {
    add(read) {
      readers.add(read);
      return () => void readers.delete(read);
    },
    refresh() {
      tally.drop(METRIC_SERVER_REPLAY_WINDOW_USAGE);
      tally.drop(METRIC_SERVER_REPLAY_WINDOW_LIMIT);
      for (const [label, { usage, limit }] of fullest()) {
        tally.set(METRIC_SERVER_REPLAY_WINDOW_USAGE, [label], usage);
        tally.set(METRIC_SERVER_REPLAY_WINDOW_LIMIT, [label], limit);
      }
    },
  };
}

function fill({ usage, limit }: ReplayWindow): number {
  return limit > 0 ? usage / limit : 0;
}
