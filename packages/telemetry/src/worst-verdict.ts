import type { Classification, Verdict } from '@sameriver/core';
import type { Severity } from './teller.ts';
import { isByDesign } from './verdict-space.ts';

const RANK: Readonly<Record<Classification, number>> = {
  resumed: 0,
  unverifiable: 1,
  refused: 2,
  reoriginated: 3,
};

/** One span cannot carry the verdicts of fifty channels (R19): it carries the worst of them. */
export function isWorse(verdict: Verdict, than: Verdict | undefined): boolean {
  return than === undefined || RANK[verdict.classification] > RANK[than.classification];
}

export function severityOf(verdict: Verdict): Severity {
  if (isByDesign(verdict)) return 'INFO';
  return RANK[verdict.classification] >= RANK.refused ? 'WARN' : 'INFO';
}
