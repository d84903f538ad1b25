import { expect, test } from 'vitest';
import { shadow } from './shadow.ts';

class Target {
  calls: string[] = [];
  write(chunk: string, _encoding: string): boolean {
    this.calls.push(chunk);
    return chunk !== 'full';
  }
}

function shadowed(): { target: Target; seen: string[]; undo: () => void } {
  const target = new Target();
  const seen: string[] = [];
  const undo = shadow(target, 'write', (original) => {
    return function write(chunk: string, encoding: string) {
      seen.push(chunk);
      return original.call(this, chunk, encoding);
    };
  });
  return { target, seen, undo };
}

test('a shadow cannot be told from the method behind it', () => {
  const { target, seen } = shadowed();
  expect(target.write('a', 'utf8')).toBe(true);
  expect(target.write('full', 'utf8')).toBe(false);
  expect(seen).toEqual(['a', 'full']);
  expect(target.calls).toEqual(['a', 'full']);
  expect([target.write.name, target.write.length]).toEqual(['write', 2]);
  expect(Object.keys(target)).toEqual(['calls']);
});

test('taken away, the object is as it was', () => {
  const { target, undo } = shadowed();
  undo();
  expect(Object.hasOwn(target, 'write')).toBe(false);
  expect(target.write).toBe(Target.prototype.write);
});

test('an own method of the application comes back with all its attributes', () => {
  const own = { write: (): number => 1 };
  const before = Object.getOwnPropertyDescriptor(own, 'write');
  const undo = shadow(own, 'write', (original) => () => (original.call(own) as number) + 1);
  expect(own.write()).toBe(2);
  expect(Object.keys(own)).toEqual(['write']);
  undo();
  expect(Object.getOwnPropertyDescriptor(own, 'write')).toEqual(before);
});

test('a shadow that somebody stands in front of by now is left alone', () => {
  const { target, undo } = shadowed();
  const behind = target.write;
  const front = (chunk: string, encoding: string): boolean => behind.call(target, chunk, encoding);
  target.write = front;
  undo();
  expect(target.write).toBe(front);
  expect(target.write('a', 'utf8')).toBe(true);
  undo();
  expect(target.calls).toEqual(['a']);
});
