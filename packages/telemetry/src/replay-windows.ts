import {
  METRIC_SERVER_REPLAY_WINDOW_LIMIT,
  METRIC_SERVER_REPLAY_WINDOW_USAGE,
} from './metric-definitions.ts';
import type { MetricSeries } from './metric-sink.ts';
import { toldWindows, watchedWindows } from './process-windows.ts';
import { createProtocolLabels } from './protocol-names.ts';
import { labelled } from './tally.ts';
import type { ReplayWindow } from './types.ts';

const labelOf = createProtocolLabels();

const GAUGES = [
  [METRIC_SERVER_REPLAY_WINDOW_USAGE, 'usage'],
  [METRIC_SERVER_REPLAY_WINDOW_LIMIT, 'limit'],
] as const;

/**
 * Series of both gauges by the name of the metric: of each protocol, the fullest window that is
 * watched, or without one what the last answer said. A gauge of something gone is not 0, it is absent.
 *
 * @param failed Called for each window that cannot be read.
 */
export function replayWindowSeries(
  failed: () => void,
): ReadonlyMap<string, readonly MetricSeries[]> {
  const told = [...toldWindows].map(([protocol, window]) => [labelOf(protocol), window] as const);
  const windows = [...new Map([...told, ...watched(failed)])];
  return new Map(
    GAUGES.map(([metric, member]) => [
      metric.name,
      windows.map(([label, window]) => ({
        attributes: labelled(metric, [label]),
        value: window[member],
      })),
    ]),
  );
}

function watched(failed: () => void): Map<string, ReplayWindow> {
  const fullest = new Map<string, ReplayWindow>();
  for (const read of watchedWindows) {
    try {
      const window = read();
      if (window === undefined) continue;
      const label = labelOf(window.protocol ?? 'sse');
      const rival = fullest.get(label);
      if (rival === undefined || fill(window) > fill(rival)) fullest.set(label, window);
    } catch {
      failed();
    }
  }
  return fullest;
}

function fill({ usage, limit }: ReplayWindow): number {
  return limit > 0 ? usage / limit : 0;
}
