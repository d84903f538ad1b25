import { idTagOf, numberTagOf } from '../id-tag.ts';
import type { Numbered } from './written-log.ts';
import { numberedBy } from './written-log.ts';

/** Where in the log of its stream an event says that it stands. */
export interface PlacedEvent extends Numbered {
  readonly position: string | undefined;
  /** 0 without a position. */
  readonly idTag: number;
}

const NOWHERE: PlacedEvent = { position: undefined, idTag: 0, ...numberedBy(undefined) };

export function placed(position: string | undefined): PlacedEvent {
  if (position === undefined) return NOWHERE;
  return { position, idTag: idTagOf(position), ...numberedBy(position) };
}

/** @param number A position in digits alone. */
export function placedAt(number: number): PlacedEvent {
  return { position: String(number), idTag: numberTagOf(number), idNumber: number };
}
