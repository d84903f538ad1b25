import { expect, test } from 'vitest';
import { privateSlot } from './private-slot.ts';

test('a value is found on its object, and on no other', () => {
  const slot = privateSlot<string>();
  const target = {};
  expect(slot.get(target)).toBeUndefined();
  slot.set(target, 'first');
  slot.set(target, 'second');
  expect(slot.get(target)).toBe('second');
  expect(slot.get({})).toBeUndefined();
  expect(slot.get(Object.create(target))).toBeUndefined();
});

test('two slots know nothing of each other', () => {
  const [one, other] = [privateSlot<number>(), privateSlot<number>()];
  const target = {};
  one.set(target, 1);
  expect(other.get(target)).toBeUndefined();
});

test('nobody sees the value, and an object may be frozen', () => {
  const slot = privateSlot<string>();
  const target = Object.freeze({ own: 1 });
  slot.set(target, 'hidden');
  expect(slot.get(target)).toBe('hidden');
  expect(Reflect.ownKeys(target)).toEqual(['own']);
  expect(structuredClone(target)).toEqual({ own: 1 });
});
