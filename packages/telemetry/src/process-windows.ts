import { processWide } from '@sameriver/core';
import type { ReplayWindow } from './types.ts';

type ReadWindow = () => ReplayWindow | undefined;

/** Of the process: an application tells of its log once, whatever instrumentations there are. */
export const watchedWindows: Set<ReadWindow> = processWide('replay-windows', () => new Set());

/** What answers said of their log last, by protocol. */
export const toldWindows: Map<string, ReplayWindow> = processWide(
  'told-replay-windows',
  () => new Map(),
);

/** @param window Of a log that has just been looked into; it stands until the next one is told. */
export function tellReplayWindow(protocol: string, window: ReplayWindow): void {
  toldWindows.set(protocol, window);
}

/**
 * Reports the fill of a replay window as `event_stream.server.replay_window.usage` and `.limit`, of
 * each protocol the fullest one.
 *
 * @param read Called whenever metrics are collected; `undefined` for nothing to tell.
 * @returns Withdraws it.
 */
export function watchReplayWindow(read: () => ReplayWindow | undefined): () => void {
  watchedWindows.add(read);
  return () => void watchedWindows.delete(read);
}
