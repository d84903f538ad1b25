/** Counts what has arrived at one end (bytes, messages), and tells who waits for it. */
export interface CountUp {
  add(more: number): void;
  /** Resolves at once or when the count reaches `amount`. */
  reach(amount: number): Promise<void>;
}

export function countUp(): CountUp {
  let total = 0;
  let waiting: { readonly amount: number; readonly resolve: () => void }[] = [];
  return {
    add: (more) => {
      total += more;
      const reached = waiting.filter((waiter) => waiter.amount <= total);
      waiting = waiting.filter((waiter) => waiter.amount > total);
      for (const waiter of reached) waiter.resolve();
    },
    reach: (amount) => {
      if (amount <= total) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ amount, resolve }));
    },
  };
}
