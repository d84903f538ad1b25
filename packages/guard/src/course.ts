import type { Classification } from '@sameriver/core';

/** `first`: nothing was read of the stream before, so there is nothing to continue. */
export type Standing = Classification | 'first';

/**
 * What happens to an event. `apply`: it runs, once. `reconcile`: it runs unless the ledger says that
 * it has run. `refuse`: nothing runs.
 */
export type Course = 'apply' | 'reconcile' | 'refuse';

/** The table "Applying events" of `docs/spec/verdicts.md`. */
export function courseFor(standing: Standing, hasKey: boolean): Course {
  switch (standing) {
    case 'first':
    case 'resumed':
      return 'apply';
    case 'reoriginated':
      return hasKey ? 'reconcile' : 'refuse';
    case 'unverifiable':
    case 'refused':
      return 'refuse';
  }
}
