import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { isBelowFloor } from './node-floor.ts';

test.each(['18.20.8', '20.20.2', '22.14.0', '21.99.9'])('Node %s is below the floor', (version) => {
  expect(isBelowFloor(version)).toBe(true);
});

test.each(['22.15.0', '22.23.3', '23.0.0', '24.0.0', '100.0.0-nightly'])(
  'Node %s is not',
  (version) => {
    expect(isBelowFloor(version)).toBe(false);
  },
);

test('the floor is the one that the package asks for', () => {
  const floor = manifest.engines.node.replace('>=', '');
  expect(isBelowFloor(floor)).toBe(false);
  const [major, minor] = floor.split('.').map(Number);
  expect(isBelowFloor(`${major}.${Number(minor) - 1}.99`)).toBe(true);
});
