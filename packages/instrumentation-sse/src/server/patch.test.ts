import { expect, test } from 'vitest';
import type { Method, Originals } from './patch.ts';
import { patchPrototype } from './patch.ts';

class Parent {
  greet(name: string): string {
    return `parent ${name}`;
  }
}

class Child extends Parent {
  leave(name: string, _again?: boolean): string {
    return `child ${name}`;
  }
}

type Name = 'greet' | 'leave' | 'missing';

const loud =
  (name: Name) =>
  (originals: Originals<Name>): Method =>
    function shout(this: unknown, ...args) {
      return `${originals[name].apply(this, args)}!`;
    };

const ALL = { greet: loud('greet'), leave: loud('leave'), missing: loud('missing') };

test('own and inherited methods are wrapped on the one prototype, and restored', () => {
  const before = Object.getOwnPropertyDescriptors(Child.prototype);
  const undo = patchPrototype(Child.prototype, ALL);
  const child = new Child();
  expect([child.greet('a'), child.leave('b'), 'missing' in child]).toEqual([
    'parent a!',
    'child b!',
    false,
  ]);
  expect(new Parent().greet('a')).toBe('parent a');
  undo();
  expect(Object.getOwnPropertyDescriptors(Child.prototype)).toEqual(before);
});

test('a wrapper has the name, the length and the enumerability of what it wraps', () => {
  const undo = patchPrototype(Child.prototype, ALL);
  const { greet, leave } = Object.getOwnPropertyDescriptors(Child.prototype) as unknown as Record<
    string,
    PropertyDescriptor
  >;
  undo();
  expect([greet?.value.name, greet?.value.length, greet?.enumerable]).toEqual(['greet', 1, false]);
  expect([leave?.value.name, leave?.value.length, leave?.enumerable]).toEqual(['leave', 2, false]);
});

test('a parent that is patched later is not bypassed', () => {
  const undo = patchPrototype(Child.prototype, ALL);
  const original = Parent.prototype.greet;
  Parent.prototype.greet = () => 'later';
  try {
    expect(new Child().greet('a')).toBe('later!');
  } finally {
    Parent.prototype.greet = original;
    undo();
  }
});

test('a wrapper that somebody has wrapped stays in place', () => {
  const undo = patchPrototype(Child.prototype, ALL);
  const ours = Child.prototype.leave;
  const theirs = function leave(this: Child, name: string): string {
    return `<${ours.call(this, name)}>`;
  };
  Child.prototype.leave = theirs;
  undo();
  expect(Child.prototype.leave).toBe(theirs);
  expect(new Child().leave('b')).toBe('<child b!>');
  expect(Object.hasOwn(Child.prototype, 'greet')).toBe(false);
});
