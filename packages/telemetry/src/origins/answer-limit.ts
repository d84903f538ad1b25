/** Milliseconds. Far beyond what a verdict waits: what is given up may still lie in a client's queue. */
const FIRST = 60_000;

/**
 * Gives up an answer that does not come, so that one that is lost does not keep an index from being
 * used ever again. The limit doubles each time, and is the first one again after an answer: what
 * piles up in the queue of a client that waits for hours grows with the logarithm of them.
 *
 * @returns Settles as the answer does, or rejects after the limit.
 */
export function createAnswerLimit(first: number = FIRST): <T>(answer: Promise<T>) => Promise<T> {
  let limit = first;
  return async (answer) => {
    const given = limit;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      limit = Math.max(limit, 2 * given);
      late.reject(new Error(`the origin index gave no answer within ${given} ms`));
    }, given).unref();
    try {
      const answered = await Promise.race([answer, late.promise]);
      limit = first;
      return answered;
    } finally {
      clearTimeout(timer);
    }
  };
}
