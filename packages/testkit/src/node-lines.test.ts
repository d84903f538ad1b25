import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { NodeLine } from './node-lines.ts';
import { nodeBinary } from './node-lines.ts';

test.each([22, 24, 26] as const)('the binary of line %i runs a Node of that line', (line) => {
  const version = execFileSync(nodeBinary(line), ['-p', 'process.version'], { encoding: 'utf8' });
  expect(version).toMatch(new RegExp(`^v${line}\\.`));
});

test('a line that is not installed is named together with the package that would bring it', () => {
  expect(() => nodeBinary(18 as NodeLine)).toThrow(/package node18-\w+-\w+ is not installed/);
});
