import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from './lib/report.ts';
import { NOISE, printTable } from './lib/report.ts';

/** Benchmarks that the gate runs, the gated ones first. */
export const GATED: readonly string[] = ['scanner', 'server-js', 'client', 'metrics'];
export const SHOWN: readonly string[] = [
  'reconnect',
  'growth',
  'storm',
  'server',
  'websocket',
  'startup',
  'memory',
];
export const ATTEMPTS = 3;

/** On the ratio; a figure with a unit gets it on the figure. */
const SLACK = 1.25;
const POINTS = 0.05;
/** These may not be missed by more than the slack; all others by no more than five points. */
const GATES = new Set(['G1', 'G2', 'G3', 'G4', 'G7', 'G10']);
/** A machine that cannot measure 1 as 1 within this has nothing to say about the rest. */
const MOST_NOISE = 0.25;

/** Where a goal is known to be missed: what is reached today, which may not become worse. */
const LEVELS_FILE = join(import.meta.dirname, 'levels.json');

/**
 * What a busy machine cannot blur: ratios within one process, bytes, and facts. An absolute time or
 * a socket depends on who else is there, and a bare loop over bytes runs at one of two speeds from
 * one process to the next: those are judged by the whole gate alone.
 */
export function isBudget({ goal, what, bounds }: Finding): boolean {
  if (goal === NOISE) return true;
  const isTime = bounds?.unit === ' ns' || bounds?.unit === ' us';
  return GATES.has(goal) && !isTime && !/network|walk/.test(what);
}

type Outcome = 'ok' | 'missed' | 'failed';

export interface Judged {
  readonly finding: Finding;
  /** The best median of all attempts. */
  readonly best: number | undefined;
  readonly allowed: string;
  readonly outcome: Outcome;
}

export function nameOf({ goal, what }: Finding): string {
  return `${goal} ${what}`;
}

export function readLevels(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(LEVELS_FILE, 'utf8')) as Record<string, number>;
}

/** How far the same thing measured twice lies from 1 in a run, at the median of its rows. */
export function noiseOf(findings: readonly Finding[]): number {
  const rows = findings.filter(({ goal }) => goal === NOISE);
  const distances = rows.map(({ median = 1 }) => Math.abs(median - 1)).sort((a, b) => a - b);
  return Math.min(MOST_NOISE, distances[Math.floor(distances.length / 2)] ?? 0);
}

/**
 * @param attempts Findings of each attempt; one that is there several times counts by its best.
 * @param levels Present level of a goal that is knowingly missed, by its name.
 */
export function judgeAttempts(
  attempts: readonly (readonly Finding[])[],
  levels: Readonly<Record<string, number>>,
): Judged[] {
  const noise = Math.min(...attempts.map(noiseOf));
  const byName = new Map<string, Finding[]>();
  for (const finding of attempts.flat()) {
    if (finding.goal === NOISE) continue;
    const name = nameOf(finding);
    byName.set(name, [...(byName.get(name) ?? []), finding]);
  }
  return [...byName].map(([name, found]) => judgeOne(found, levels[name], noise));
}

function judgeOne(found: readonly Finding[], level: number | undefined, noise: number): Judged {
  const [finding] = found as [Finding];
  const { bounds } = finding;
  if (bounds === undefined) {
    const met = found.some((each) => each.met);
    return { finding, best: undefined, allowed: 'always', outcome: met ? 'ok' : 'failed' };
  }
  const medians = found.map(({ median = Number.NaN }) => median);
  if (bounds.atMost === undefined) return judgeLow(finding, Math.max(...medians), level, noise);
  const best = Math.min(...medians);
  const limit = Math.max(bounds.atMost, level ?? bounds.atMost);
  const most = allowedFor(finding, limit) + (bounds.unit === undefined ? noise : 0);
  const isOk = best <= bounds.atMost;
  const outcome = isOk ? 'ok' : best <= most ? 'missed' : 'failed';
  return { finding, best, allowed: `<= ${most.toFixed(2)}${bounds.unit ?? ''}`, outcome };
}

function judgeLow(
  finding: Finding,
  best: number,
  level: number | undefined,
  noise: number,
): Judged {
  const goal = finding.bounds?.atLeast ?? 0;
  // Throughput on cores that others use as well: its share of CPU says more (`atMost`).
  const least = Math.min(goal, level ?? goal) / SLACK - noise;
  const outcome = best >= goal ? 'ok' : best >= least ? 'missed' : 'failed';
  return { finding, best, allowed: `>= ${least.toFixed(2)}`, outcome };
}

function allowedFor({ goal, bounds }: Finding, limit: number): number {
  return GATES.has(goal) || bounds?.unit !== undefined ? limit * SLACK : limit + POINTS;
}

export function printJudged(judged: readonly Judged[]): void {
  printTable(
    ['goal', 'what', 'best median', 'goal', 'allowed', ''],
    judged.map(({ finding, best, allowed, outcome }) => [
      finding.goal,
      finding.what,
      best === undefined ? finding.measured : `${best.toFixed(2)}${finding.bounds?.unit ?? ''}`,
      finding.limit,
      allowed,
      outcome,
    ]),
  );
}
