// Keeps the event loop busy for a share of the time, as real work does.

const TURN = 20;

let timer;

/** @param {number} share 0 to 1. */
export function keepBusy(share) {
  clearInterval(timer);
  if (share === 0) return;
  timer = setInterval(() => {
    const end = performance.now() + share * TURN;
    while (performance.now() < end);
  }, TURN);
}
