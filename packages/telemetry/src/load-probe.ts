import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { LoadReading } from './load-level.ts';
import { loadLevel } from './load-level.ts';
import type { DelayWatch, LoadOptions, LoadSource, LoopTimes } from './types.ts';

export interface LoadProbe {
  /** Begins to measure, unless it does already. */
  watch(): void;
  read(): LoadReading;
  readonly watching: boolean;
  stop(): void;
}

/** Three snapshots half a second apart: the oldest is one to one and a half seconds old. */
const INTERVAL = 500;
const SNAPSHOTS = 3;
/** A delay of ten seconds ago says nothing about this verdict. */
const DELAY_TICKS = 20;
/** A client that lost its only stream comes back within the minute, and wants a second to look at. */
const LINGER_TICKS = 120;

interface Watch {
  readonly delay: DelayWatch;
  readonly cancel: () => void;
  readonly snapshots: LoopTimes[];
  ticks: number;
  idleTicks: number;
  /** p99 of the samples before the last reset, and of those since. */
  delayBefore: number;
  delayNow: number;
}

/**
 * Measures how busy this process is, for the moment of a verdict. Runs only while `watch` was
 * called and streams are active (and a minute longer).
 *
 * @param failed Hears of a source that throws between two verdicts; the probe then stops.
 */
export function createLoadProbe(
  activeStreams: () => number,
  options: LoadOptions = {},
  source: LoadSource = NODE_SOURCE,
  failed: () => void = () => {},
): LoadProbe {
  let running: Watch | undefined;

  function watch(): void {
    if (running !== undefined) return;
    const cancel = source.every(INTERVAL, tickSafely);
    const snapshots = [source.loopTimes()];
    const delay = source.watchDelay();
    running = { delay, cancel, snapshots, ticks: 0, idleTicks: 0, delayBefore: 0, delayNow: 0 };
  }

  // A timer has nobody above it: what is thrown here would end the process.
  function tickSafely(): void {
    try {
      tick();
    } catch {
      stop();
      failed();
    }
  }

  function tick(): void {
    if (running === undefined) return;
    running.snapshots.push(source.loopTimes());
    if (running.snapshots.length > SNAPSHOTS) running.snapshots.shift();
    running.ticks += 1;
    // Here and not in `read`: a percentile costs 30 µs, and storms have thousands of verdicts.
    running.delayNow = running.delay.p99();
    if (running.ticks % DELAY_TICKS === 0) {
      running.delayBefore = running.delayNow;
      running.delay.reset();
    }
    running.idleTicks = activeStreams() === 0 ? running.idleTicks + 1 : 0;
    if (running.idleTicks >= LINGER_TICKS) stop();
  }

  function read(): LoadReading {
    const figures = {
      eventLoopUtilization: utilization(running?.snapshots[0], source.loopTimes()),
      eventLoopDelay: Math.max(running?.delayBefore ?? 0, running?.delayNow ?? 0),
      activeStreams: activeStreams(),
    };
    return { ...figures, level: loadLevel(figures, options) };
  }

  function stop(): void {
    running?.cancel();
    running?.delay.stop();
    running = undefined;
  }

  return {
    watch,
    read,
    get watching() {
      return running !== undefined;
    },
    stop,
  };
}

/** A request and its verdict may fall into one busy tick, in which no loop has ever been idle. */
const LEAST_WINDOW = 100;

// Before there is a window, the whole life of the loop is looked at: no other figure is honest.
function utilization(from: LoopTimes | undefined, to: LoopTimes): number {
  const since = from !== undefined && lifeOf(to) - lifeOf(from) >= LEAST_WINDOW ? from : LOOP_START;
  const active = to.active - since.active;
  const total = lifeOf(to) - lifeOf(since);
  return total > 0 ? Math.min(1, Math.max(0, active / total)) : 0;
}

const LOOP_START: LoopTimes = { idle: 0, active: 0 };

function lifeOf({ idle, active }: LoopTimes): number {
  return idle + active;
}

/** The monitor wakes at this pace and reports the time between two wakes; 20 ms cost twice the CPU. */
const DELAY_RESOLUTION = 50;
const NANOSECONDS = 1e6;

const NODE_SOURCE: LoadSource = {
  loopTimes: () => performance.eventLoopUtilization(),
  watchDelay() {
    const histogram = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION });
    histogram.enable();
    return {
      p99: () => Math.max(0, histogram.percentile(99) / NANOSECONDS - DELAY_RESOLUTION),
      reset: () => histogram.reset(),
      stop: () => void histogram.disable(),
    };
  },
  every(interval, callback) {
    const timer = setInterval(callback, interval);
    timer.unref();
    return () => clearInterval(timer);
  },
};
