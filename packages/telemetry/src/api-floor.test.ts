import { readdirSync, readFileSync } from 'node:fs';
import * as floor from 'api-1.9';
import { describe, expect, test } from 'vitest';

const FOLDER = new URL('.', import.meta.url);

function sources(): readonly (readonly [string, string])[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => [name, readFileSync(new URL(name, FOLDER), 'utf8')] as const);
}

/** Names that a module takes from the API at run time. */
function importedValues(text: string): readonly string[] {
  const statements = text.matchAll(/import \{([^}]*)\} from '@opentelemetry\/api'/g);
  return [...statements].flatMap(([, names = '']) => names.split(',')).map((name) => name.trim());
}

describe('the lowest supported API, 1.9', () => {
  test('has every value that is imported from the API', () => {
    const wanted = new Set(sources().flatMap(([, text]) => importedValues(text)));
    wanted.delete('');
    expect(wanted).toContain('ProxyTracer');
    expect([...wanted].filter((name) => !(name in floor))).toEqual([]);
  });

  test('is all that is imported at run time, besides core and Node', () => {
    const foreign = sources().flatMap(([name, text]) =>
      [...text.matchAll(/^(?:import|\}) (?!type).*from '([^.'][^']*)'/gm)]
        .map(([statement, from = '']) => [name, statement, from] as const)
        .filter(([, statement]) => !statement.startsWith('import type'))
        .map(([, , from]) => from),
    );
    const runtime = new Set(foreign);
    for (const from of runtime)
      expect(from).toMatch(/^(@opentelemetry\/api|@sameriver\/core|node:\w+)$/);
    expect(runtime).toContain('@opentelemetry/api');
  });
});
