import { randomBytes } from 'node:crypto';

export interface Epoch {
  /** At once: of a log that is asked asynchronously, what it said last, while it is asked again. */
  known(): string | undefined;
  read(): Promise<string | undefined>;
}

/** @throws TypeError when `epoch` is neither `in-memory` nor a function. */
export function createEpoch(epoch: 'in-memory' | (() => string | Promise<string>)): Epoch {
  if (epoch === 'in-memory') {
    const own = randomBytes(12).toString('base64url');
    return { known: () => own, read: async () => own };
  }
  if (typeof epoch !== 'function') {
    throw new TypeError(
      "withContinuity: options.epoch is missing: 'in-memory', or a function that reads the epoch that is kept with the log",
    );
  }
  let known: string | undefined;
  const forget = (): undefined => {
    // A log that cannot be reached says nothing; the store itself will tell the application why.
    known = undefined;
  };
  const keep = (value: string): string => {
    known = value;
    return value;
  };
  const ask = (): string | undefined | Promise<string | undefined> => {
    try {
      const answer = epoch();
      return typeof answer === 'string' ? keep(answer) : answer.then(keep, forget);
    } catch {
      return forget();
    }
  };
  void ask();
  return {
    known() {
      const before = known;
      const answer = ask();
      return answer instanceof Promise ? before : answer;
    },
    read: async () => ask(),
  };
}
