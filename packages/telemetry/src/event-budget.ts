import type { StreamMemo } from './record.ts';
import type { EventBudget } from './types.ts';

export const DEFAULT_BUDGET: EventBudget = { burst: 10, interval: 6_000 };

/**
 * One number for each stream instead of a bucket and its clock: every event pays for `interval`,
 * and a stream may be `burst` payments ahead of the time.
 *
 * @param urgent May be twice as far ahead.
 * @returns Whether the event may be told; then it is paid for.
 */
export function spend(
  memo: StreamMemo,
  { burst, interval }: EventBudget,
  now: number,
  urgent: boolean,
): boolean {
  const paidUntil = Math.max(memo.paidUntil, now);
  const ahead = (urgent ? 2 * burst : burst) - 1;
  if (paidUntil - now > ahead * interval) return false;
  memo.paidUntil = paidUntil + interval;
  return true;
}
