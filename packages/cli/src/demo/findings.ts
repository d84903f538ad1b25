import type { Role } from '@sameriver/core';
import type { ReceivedSpan } from './span-inbox.ts';

/** What a span says about a reconnect, in words for a table. */
export interface Finding {
  readonly role: Role;
  readonly classification: string;
  readonly reason: string;
  readonly epoch: string;
  readonly cursors: string;
  readonly missed: string;
  readonly repeated: string;
  readonly load: string;
  /** What became of a move to another transport. */
  readonly outcome?: string;
}

export function findingOf(role: Role, { attributes }: ReceivedSpan): Finding {
  const told = (name: string): string => String(attributes[`event_stream.${name}`] ?? 'unknown');
  const utilization = Number(attributes['event_stream.load.event_loop_utilization'] ?? 0);
  return {
    role,
    classification: told('classification'),
    reason: told('reason'),
    epoch: told('epoch').slice(0, 8),
    cursors: `${told('cursor.requested')} > ${told('cursor.first')}`,
    missed: told('missed'),
    repeated: told('duplicates'),
    load: `${told('load.level')} ${Math.round(utilization * 100)}%`,
  };
}

/** A verdict that the demo must arrive at. */
export interface Expected {
  readonly what: string;
  readonly found: Finding;
  readonly classification: string;
  /** Absent where more than one reason is right. */
  readonly reason?: string;
  readonly missed?: string;
  readonly outcome?: string;
}

/** @returns One line for each verdict that is not the right one. */
export function wrongVerdicts(all: readonly Expected[]): string[] {
  return all.flatMap(({ what, found, ...expected }) => {
    const wrong = (['classification', 'reason', 'missed', 'outcome'] as const).filter(
      (key) => expected[key] !== undefined && expected[key] !== found[key],
    );
    return wrong.map(
      (key) => `${what}, ${found.role}: ${key} is ${found[key]}, expected ${expected[key]}`,
    );
  });
}
