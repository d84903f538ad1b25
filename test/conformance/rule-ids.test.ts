import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const spec = ['verdicts', 'origins']
  .map((page) => readFileSync(`${root}docs/spec/${page}.md`, 'utf8'))
  .join('\n');

/** Rules stand in bold, `**R18a**`; ranges and mentions do not. */
const defined = new Set([...spec.matchAll(/\*\*([RVLSGMX]\d+a?)\*\*/g)].map((match) => match[1]));

/** Titles begin with the ids they carry, `R5: …` or `R5, R7: …`; data files name theirs as source. */
const TITLE = /['"`]([RVLSGMX]\d+a?(?:, [RVLSGMX]\d+a?)*): /g;

function tested(): Set<string | undefined> {
  const sources = globSync(['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'], {
    cwd: root,
    exclude: (name: string) => name.includes('node_modules'),
  });
  const titles = sources.flatMap((file) =>
    [...readFileSync(root + file, 'utf8').matchAll(TITLE)].flatMap((m) => m[1]?.split(', ') ?? []),
  );
  const kinds = globSync('test/cases/rules/*.json', { cwd: root }).map(
    (file) => (JSON.parse(readFileSync(root + file, 'utf8')) as { source?: string }).source ?? '',
  );
  return new Set([...titles, ...kinds.flatMap((source) => source.match(/[RVLSGMX]\d+a?/g) ?? [])]);
}

describe('the rules of docs/spec/verdicts.md and origins.md', () => {
  it('are all carried by the title of a test', () => {
    const titles = tested();
    expect([...defined].filter((id) => !titles.has(id))).toEqual([]);
  });

  it('include every id that a test title claims', () => {
    expect([...tested()].filter((id) => !defined.has(id))).toEqual([]);
  });
});
