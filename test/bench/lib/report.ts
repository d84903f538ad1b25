import type { Spread } from './spread.ts';

/** What one benchmark says of one goal; the runner makes its last table of them. */
export interface Finding {
  readonly goal: string;
  readonly what: string;
  readonly measured: string;
  readonly limit: string;
  readonly met: boolean;
  /** For the gate, which allows more than the goal. */
  readonly median?: number;
  readonly bounds?: Limit;
}

/** Bounds for a median; a goal is no gate, it is printed whether it was met. */
export interface Limit {
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Behind each figure, ` B` for instance. */
  readonly unit?: string;
}

const findings: Finding[] = [];

export function judge(goal: string, what: string, spread: Spread, limit: Limit): void {
  const { atMost, atLeast, unit = '' } = limit;
  const { median } = spread;
  const isBelow = atMost === undefined || median <= atMost;
  const isAbove = atLeast === undefined || median >= atLeast;
  const bounds = [
    ...(atMost === undefined ? [] : [`<= ${atMost}${unit}`]),
    ...(atLeast === undefined ? [] : [`>= ${atLeast}${unit}`]),
  ];
  findings.push({
    goal,
    what,
    measured: `${figure(median)}${unit} (${figure(spread.min)} to ${figure(spread.max)})`,
    limit: bounds.join(', '),
    met: isBelow && isAbove,
    median,
    bounds: limit,
  });
}

/** What the same thing measured twice differs by in this run: the noise of the machine. */
export const NOISE = 'A/A';

export function noise(what: string, spread: Spread): void {
  const measured = `${figure(spread.median)} (${figure(spread.min)} to ${figure(spread.max)})`;
  findings.push({ goal: NOISE, what, measured, limit: '', met: true, median: spread.median });
}

/** For what is true or false, and has no spread. */
export function judgeFact(goal: string, what: string, met: boolean, measured: string): void {
  findings.push({ goal, what, measured, limit: 'always', met });
}

/** Prints the goals of this benchmark and hands them to the runner, when there is one. */
export function finish(): void {
  printFindings(findings);
  process.send?.(findings);
  // Sockets and SDKs of a benchmark have nothing left to say.
  if (process.send === undefined) process.exit();
  process.disconnect();
  setImmediate(() => process.exit());
}

export function printFindings(all: readonly Finding[]): void {
  const rows = all.map(({ goal, what, measured, limit, met }) => [
    goal,
    what,
    measured,
    limit,
    met ? 'ok' : 'MISSED',
  ]);
  printTable(['goal', 'what', 'median (min to max)', 'limit', ''], rows);
}

export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  console.log(line(head));
  console.log(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  for (const row of rows) console.log(line(row));
  console.log();
}

export function heading(text: string): void {
  console.log(`\n## ${text}\n`);
}

/** Three cells: min, median, max. */
export function cells({ min, median, max }: Spread): string[] {
  return [min, median, max].map(figure);
}

export function figure(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
}
