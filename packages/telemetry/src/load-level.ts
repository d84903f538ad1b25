import type { LoadLevel } from './names.ts';
import type { LoadLimits, LoadOptions } from './types.ts';

export interface LoadFigures {
  /** 0 to 1. */
  readonly eventLoopUtilization: number;
  /** p99 in milliseconds. */
  readonly eventLoopDelay: number;
  readonly activeStreams: number;
}

export interface LoadReading extends LoadFigures {
  readonly level: LoadLevel;
}

const ELEVATED: LoadLimits = { eventLoopUtilization: 0.7, eventLoopDelay: 50 };
const HIGH: LoadLimits = { eventLoopUtilization: 0.9, eventLoopDelay: 200 };

/** One figure at its limit is enough: a loop that is blocked now and then has a low utilization. */
export function loadLevel(figures: LoadFigures, options: LoadOptions = {}): LoadLevel {
  if (reaches(figures, { ...HIGH, ...options.high })) return 'high';
  return reaches(figures, { ...ELEVATED, ...options.elevated }) ? 'elevated' : 'low';
}

function reaches(figures: LoadFigures, limits: LoadLimits): boolean {
  return (
    figures.eventLoopUtilization >= (limits.eventLoopUtilization ?? Number.POSITIVE_INFINITY) ||
    figures.eventLoopDelay >= (limits.eventLoopDelay ?? Number.POSITIVE_INFINITY) ||
    figures.activeStreams >= (limits.activeStreams ?? Number.POSITIVE_INFINITY)
  );
}
