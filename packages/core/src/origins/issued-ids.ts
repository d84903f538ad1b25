import { idTagOf } from '../id-tag.ts';
import type { Numbered, WrittenLog } from '../server/written-log.ts';
import { numberedBy } from '../server/written-log.ts';

/** Ids that a process has issued on a logical stream, as far as it remembers them. */
export interface IssuedIds {
  /** Stretches of consecutive integers, oldest first: the first and the last of each. */
  readonly runs: readonly (readonly [number, number])[];
  /** 31-bit tags of the latest ids outside of them, oldest first. */
  readonly tags: readonly number[];
}

/** A logical stream as this process writes it. */
export interface WrittenStream {
  /** Stands for its key, the same in every process (L4); 0 where no other one could find it. */
  readonly tag: number;
  readonly log: WrittenLog;
  /** Connections that read it now. */
  readonly open: number;
}

/** Whether what one of its connections was sent says something about the others. */
export function speaksForAll({ log }: WrittenStream): boolean {
  return !log.isFiltered && !log.reusesIds;
}

export function hasIssued({ log }: WrittenStream, id: string): boolean {
  return log.find(idTagOf(id), numberedBy(id)) !== undefined;
}

/** Where an id stands among issued ones. */
export interface IssuedPlace {
  /** The last id of the stretch that it stands in; `undefined` outside of one. */
  readonly newest: number | undefined;
  /** How many are known to have been issued after it: a lower bound. */
  readonly after: number;
}

export function placeIn({ runs, tags }: IssuedIds, id: string): IssuedPlace | undefined {
  const { idNumber }: Numbered = numberedBy(id);
  const run = runs.findLast(([first, last]) => idNumber >= first && idNumber <= last);
  if (run !== undefined) return { newest: run[1], after: run[1] - idNumber };
  const index = tags.lastIndexOf(idTagOf(id));
  return index < 0 ? undefined : { newest: undefined, after: tags.length - 1 - index };
}
