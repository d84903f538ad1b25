/**
 * Catches the timer that a library sets right after the event it is dispatching now, so that the
 * transcript and not the clock says when the library reconnects. `setTimeout` is itself again with
 * that call, or when the current job is over.
 *
 * @param caught Gets the callback of the timer; the timer itself never fires.
 */
export function holdNextTimer(caught: (callback: () => void) => void): void {
  const original = globalThis.setTimeout;
  const restore = () => {
    globalThis.setTimeout = original;
  };
  const hold = (callback: () => void) => {
    restore();
    caught(callback);
    const timer = original(() => {}, 0);
    clearTimeout(timer);
    return timer;
  };
  globalThis.setTimeout = hold as typeof setTimeout;
  queueMicrotask(restore);
}
