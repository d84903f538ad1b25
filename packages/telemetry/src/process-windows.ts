import { processWide } from '@sameriver/core';
import type { ReplayWindow } from './types.ts';

type ReadWindow = () => ReplayWindow | undefined;

/** Of the process: an application tells of its log once, whatever instrumentations there are. */
export const processWindows: Set<ReadWindow> = processWide('replay-windows', () => new Set());

/**
 * Reports the fill of a replay window as `event_stream.server.replay_window.usage` and `.limit`, of
 * each protocol the fullest one.
 *
 * @param read Called whenever metrics are collected; `undefined` for nothing to tell.
 * @returns Withdraws it.
 */
export function watchReplayWindow(read: () => ReplayWindow | undefined): () => void {
  processWindows.add(read);
  return () => void processWindows.delete(read);
}
