import type { Count, ExpectedReconnect, JudgedReconnect } from '@sameriver/core';

/**
 * Compares verdicts with what a transcript expects. An expected entry accepts any
 * reason or number that it does not name; one that names no stream speaks for all streams of its
 * connection, whose duplicates add up.
 *
 * @returns One sentence for each difference; empty when the expectation is met.
 */
export function differences(
  expected: readonly ExpectedReconnect[],
  judged: readonly JudgedReconnect[],
): string[] {
  const surplus = judged
    .filter((verdict) => !expected.some((entry) => speaksFor(entry, verdict)))
    .map((verdict) => `${place(verdict)}: expected no verdict, got ${described(verdict)}`);
  return [...expected.flatMap((entry) => differs(entry, judged)), ...surplus];
}

/** The expected entry that speaks for a verdict, if there is one. */
export function expectationFor(
  expected: readonly ExpectedReconnect[],
  verdict: JudgedReconnect,
): ExpectedReconnect | undefined {
  const entries = expected.filter((entry) => speaksFor(entry, verdict));
  return entries.find((entry) => entry.stream !== undefined) ?? entries[0];
}

function speaksFor(entry: ExpectedReconnect, verdict: JudgedReconnect): boolean {
  if (entry.connection !== verdict.connection) return false;
  return entry.stream === undefined || entry.stream === verdict.stream;
}

function differs(entry: ExpectedReconnect, judged: readonly JudgedReconnect[]): string[] {
  const mine = judged.filter((verdict) => speaksFor(entry, verdict));
  const wanted = `${place(entry)}: expected ${described(entry)}`;
  if (mine.length === 0) return [`${wanted}, got no verdict`];
  const duplicates = mine.map((verdict) => verdict.duplicates).reduce(sum);
  const met = mine.some(
    (verdict) =>
      verdict.classification === entry.classification &&
      accepts(entry.reason, verdict.reason) &&
      accepts(entry.missed, verdict.missed),
  );
  if (met && accepts(entry.duplicates, duplicates)) return [];
  return [`${wanted}, got ${mine.map(described).join(' and ')}`];
}

function accepts<T>(expected: T | undefined, got: T): boolean {
  return expected === undefined || expected === got;
}

function sum(a: Count, b: Count): Count {
  return a === 'unknown' || b === 'unknown' ? 'unknown' : a + b;
}

function place({ connection, stream }: ExpectedReconnect | JudgedReconnect): string {
  return `connection ${connection}${stream === undefined ? '' : ` stream ${stream}`}`;
}

/** `classification (reason), missed n, duplicates n`, as far as it is said. */
export function described(verdict: ExpectedReconnect | JudgedReconnect): string {
  const { classification, reason, missed, duplicates } = verdict;
  const because = reason === undefined ? '' : ` (${reason})`;
  const counts = Object.entries({ missed, duplicates })
    .filter(([, count]) => count !== undefined)
    .map(([name, count]) => `, ${name} ${count}`);
  return classification + because + counts.join('');
}
