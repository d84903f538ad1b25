import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { publishedPackages } from './manifests.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8');

/** `64 * 1024`, `1 << 20`, `65_536`. */
function amount(expression: string): number {
  const [left = '', operator, right] = expression.replaceAll('_', '').split(/ (\*|<<) /);
  if (operator === undefined) return Number(left);
  return operator === '*' ? Number(left) * Number(right) : Number(left) << Number(right);
}

const LIMITS = [
  ...read('docs/security.md').matchAll(/\| ([\d,]+)[^|]*\| `(\w+)` in `([^`]+)`/g),
].map(([, limit = '', name = '', path = '']) => ({
  limit: Number(limit.replaceAll(',', '')),
  name,
  path,
}));

test.each(LIMITS)('docs/security.md: $name in $path is $limit', ({ limit, name, path }) => {
  const [, expression = ''] =
    new RegExp(`^(?:export )?const ${name}(?:: number)? = ([\\d_ *<]+);`, 'm').exec(read(path)) ??
    [];
  expect(amount(expression.trim())).toBe(limit);
});

test('the table of limits is not empty', () => {
  expect(LIMITS.length).toBeGreaterThanOrEqual(20);
});

test('every published package asks for a statement of where it was made', () => {
  for (const { manifest } of publishedPackages()) {
    expect([manifest.name, manifest.publishConfig?.provenance]).toEqual([manifest.name, true]);
  }
});
