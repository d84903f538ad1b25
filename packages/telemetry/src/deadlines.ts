interface Deadline {
  /** Milliseconds on the clock of `performance`. */
  readonly due: number;
  readonly callback: () => void;
}

/** A timer may fire a little before the clock says so. */
const EARLY = 1;

/**
 * Calls back once after a delay that is the same for all, unless cancelled. One timer serves
 * however many wait: in a storm of connections each would otherwise make and drop one of its own,
 * and most are settled by their first event.
 */
export function createDeadlines(delay: number): (callback: () => void) => () => void {
  // In the order in which they are due, as the delay is the same for all.
  const waiting = new Set<Deadline>();
  let isArmed = false;

  function arm(): void {
    const [next] = waiting;
    isArmed = next !== undefined;
    if (next !== undefined) {
      setTimeout(fire, Math.max(0, next.due - performance.now())).unref();
    }
  }

  function fire(): void {
    const now = performance.now() + EARLY;
    try {
      for (const deadline of waiting) {
        if (deadline.due > now) return;
        waiting.delete(deadline);
        deadline.callback();
      }
    } finally {
      arm();
    }
  }

  return (callback) => {
    const deadline = { due: performance.now() + delay, callback };
    waiting.add(deadline);
    if (!isArmed) arm();
    return () => void waiting.delete(deadline);
  };
}
