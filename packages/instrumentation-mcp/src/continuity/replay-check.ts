import type { Continuity, FoundCursor } from '@sameriver/core';
import type { JournalEntry } from './journal.ts';
import { messageAfter } from './journal.ts';

/** How a replay went, as far as it can be told from the ids that were sent. */
export type ReplayFinding =
  | FoundCursor
  /** Something after the cursor was left out, although what is right after it was sent. */
  | { readonly kind: 'incomplete' }
  /** Nobody here knows what should have been sent. */
  | { readonly kind: 'unchecked' };

/** Watches what a store sends after a cursor, against what is known to be there. */
export interface ReplayCheck {
  sent(id: string): void;
  finding(): ReplayFinding;
}

/** Against the order in which the events were stored: every single one must come. */
export function checkByJournal(
  cursor: JournalEntry,
  lastOf: (entry: JournalEntry) => JournalEntry | undefined,
): ReplayCheck {
  const due = lastMessage(cursor);
  let reached = cursor;
  let first: string | undefined;
  let isInOrder = true;
  let hasDue = due === undefined;
  return {
    sent(id) {
      first ??= id;
      const next = messageAfter(reached);
      if (next?.id === id) reached = next;
      else isInOrder = false;
      if (id === due?.id) hasDue = true;
    },
    finding() {
      const isRight = first === undefined || first === messageAfter(cursor)?.id;
      if (!isRight || (first === undefined && !hasDue)) return { kind: 'evicted', oldest: first };
      if (!isInOrder || !hasDue) return { kind: 'incomplete' };
      return { kind: 'kept', next: first, newest: lastOf(cursor)?.id };
    },
  };
}

/** What was stored before the replay began must be sent; what comes while it runs may be. */
function lastMessage(cursor: JournalEntry): JournalEntry | undefined {
  let last: JournalEntry | undefined;
  for (let entry = messageAfter(cursor); entry !== undefined; entry = messageAfter(entry)) {
    last = entry;
  }
  return last;
}

/** Against what the log says of the cursor: the successor must come first. */
export function checkByLog(found: FoundCursor): ReplayCheck {
  let first: string | undefined;
  return {
    sent(id) {
      first ??= id;
    },
    finding() {
      if (found.kind !== 'kept') return found;
      // At the end of the log, what comes is what was written meanwhile.
      if (found.next === undefined) return { ...found, next: first };
      return found.next === first ? found : { kind: 'incomplete' };
    },
  };
}

/** Nothing is known of the cursor. */
export function unchecked(finding: ReplayFinding = { kind: 'unchecked' }): ReplayCheck {
  return { sent() {}, finding: () => finding };
}

export function isUnsatisfied({ kind }: ReplayFinding): boolean {
  return kind === 'evicted' || kind === 'unknown' || kind === 'incomplete';
}

/** @param finding Of a replay that no look into the log can describe. */
export function incomplete(cursor: string, epoch: string | undefined): Continuity {
  return { status: 'reset', epoch, received: cursor, reason: 'incomplete' };
}
