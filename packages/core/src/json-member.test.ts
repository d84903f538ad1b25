import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from './json.ts';
import { peekMember, UNKNOWN } from './json-member.ts';

function parsed(text: string, name: string): unknown {
  const value = parseJson(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

const names = fc.constantFrom('seq', 'type', 'id', '', 'a"b', 'é', '\\', '__proto__');
const objects = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }));
const spaces = fc.constantFrom(0, 1, '\t');

describe('peekMember', () => {
  it('never says anything but what parsing says', () => {
    fc.assert(
      fc.property(objects, names, spaces, (object, name, space) => {
        const text = JSON.stringify(object, null, space);
        const found = peekMember(text, name);
        if (found !== UNKNOWN) expect(found).toEqual(parsed(text, name));
      }),
      { numRuns: 2000 },
    );
  });

  it('says nothing false, and throws nothing, of what is no object', () => {
    fc.assert(
      fc.property(fc.json(), names, (text, name) => {
        const found = peekMember(text, name);
        if (found !== UNKNOWN) expect(found).toEqual(parsed(text, name));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]":,\\ase1 ') }), (text) => {
        peekMember(text, 'a');
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{"seq":7,"t":"x"}', 7],
    ['{"t":"a \\"seq\\":1","seq":7}', 7],
    ['{"data":{"seq":1},"seq":7}', 7],
    ['{"data":[{"seq":1},"]"],"seq":"7"}', '7'],
    ['{ "seq" : -7 }', -7],
    ['{"a":true,"seq":null}', null],
    ['{"seq":false}', false],
    ['{"other":1}', undefined],
    ['{}', undefined],
  ])('finds the member of %s', (text, value) => {
    expect(peekMember(text, 'seq')).toBe(value);
  });

  it('says nothing of a beginning that the whole does not say', () => {
    fc.assert(
      fc.property(objects, names, fc.nat(80), (object, name, length) => {
        const text = JSON.stringify(object);
        const found = peekMember(text.slice(0, length), name);
        if (found !== UNKNOWN) expect(found).toEqual(parsed(text, name));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['an array', '[1]'],
    ['a value that is nested', '{"seq":{"n":1}}'],
    ['a number that needs every digit', '{"seq":9007199254740993}'],
    ['a number with a fraction', '{"seq":1.5}'],
    ['a string with escapes', '{"seq":"\\u0037"}'],
    ['a name with escapes before it', '{"\\u0073eq":1}'],
    ['nothing at all', ''],
    ['a text that breaks off', '{"a":"b'],
    ['much that is nested before it', `{"a":[${'1,'.repeat(600)}1],"seq":7}`],
  ])('leaves %s to the parser', (_what, text) => {
    expect(peekMember(text, 'seq')).toBe(UNKNOWN);
  });

  it('leaps over a long string, and stops at what it looks for', () => {
    const long = 'x'.repeat(1_000_000);
    expect(peekMember(`{"t":"${long}","seq":7}`, 'seq')).toBe(7);
    expect(peekMember(`{"seq":7,"t":"${long}`, 'seq')).toBe(7);
  });
});
