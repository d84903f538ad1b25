import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { RowResult, Setting, Side } from './matrix.ts';
import {
  allSettings,
  binaryOf,
  describeSetting,
  runRows,
  runToEnd,
  someSettings,
} from './matrix.ts';
import { isSeen, ROWS, renderCompatibility, shortName } from './seen.ts';

/*
 * Every library that we say we see does the same with and without us: bytes, errors, returns,
 * listeners, the order of events, what a slow reader is told, warnings, stray rejections.
 * `npm run matrix` runs the full product.
 */
const FULL = process.env['SAMERIVER_MATRIX'] === 'full';
const settings = (FULL ? allSettings() : someSettings()).filter(
  ({ line }) => binaryOf(line) !== undefined,
);

/** How a process is without us does not depend on the flag that would bring us in. */
const baselines = new Map<string, Promise<ReadonlyMap<string, RowResult>>>();

function rowsOf(setting: Setting, side: Side): Promise<ReadonlyMap<string, RowResult>> {
  if (side === 'with us') return runRows(setting, side);
  const key = describeSetting({ ...setting, flag: '--import' });
  const found = baselines.get(key) ?? runRows(setting, side);
  baselines.set(key, found);
  return found;
}

test.concurrent.each(settings.map((setting) => [describeSetting(setting), setting] as const))(
  '%s: each library does what it does without us, and is seen',
  { timeout: 180_000 },
  async (_, setting) => {
    const [without, beside] = await Promise.all([
      rowsOf(setting, 'without us'),
      rowsOf(setting, 'with us'),
    ]);
    expect([...beside.keys()]).toEqual([...without.keys()]);
    for (const [name, { seen, spans, failed }] of beside) {
      expect({ name, failed }).toEqual({ name, failed: undefined });
      expect(`${name} ${seen}`).toBe(`${name} ${without.get(name)?.seen}`);
      expect({ name, seen: spans.length > 0 }).toEqual({ name, seen: isSeen(name, setting.line) });
      expect(without.get(name)?.spans).toEqual([]);
    }
  },
);

test('the table holds rows for both ends and for WebSockets, and no name twice', () => {
  const names = ROWS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(40);
});

function page(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');
}

test('docs/compatibility.md is this table', () => {
  expect(page('docs/compatibility.md')).toBe(renderCompatibility());
});

test('the front page names every library of the table, and no Node line that is not in it', () => {
  const [, section = ''] = page('README.md').split('## What it can see');
  const [seen = ''] = section.split('\n## ');
  for (const { library } of ROWS) expect(seen).toContain(shortName(library));
  expect(seen.match(/Node \d+(?:\.\d+)?/g)).toEqual(['Node 22.15', 'Node 24', 'Node 26']);
});

const WAYS = [
  'return',
  'exit code',
  'process.exit',
  'uncaught exception',
  'unhandled rejection',
  'a signal to itself',
  'a signal that it listens to',
];

const ends = (FULL ? allSettings() : someSettings().slice(0, 1)).filter(
  ({ line, modules, company }) =>
    binaryOf(line) !== undefined && modules === 'mjs' && company === 'sdk-3',
);

for (const setting of ends) {
  test.each(WAYS)(
    `${describeSetting(setting)}: a process ends by %s as without us`,
    async (way) => {
      const [without, beside] = await Promise.all([
        runToEnd(setting, 'without us', way),
        runToEnd(setting, 'with us', way),
      ]);
      expect(beside).toEqual(without);
      expect(without.stdout + without.stderr + without.signal).not.toBe('null');
    },
  );
}
