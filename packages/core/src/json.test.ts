import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from './json.ts';

/** Beyond 2^53 both may differ (S7): JSON.parse rounds. */
const LONG_NUMBER = /\d{16}/;

function plain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('parseJson', () => {
  it('agrees with JSON.parse on whatever is JSON', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.constantFrom('', ' ', '\n'),
        fc.constantFrom('', '\t'),
        (text, a, b) => {
          fc.pre(!LONG_NUMBER.test(text));
          expect(parseJson(a + text + b)).toEqual(plain(a + text + b));
        },
      ),
    );
  });

  it('answers undefined for whatever is none', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]"-01.eE+truefalsn, :x') }), (text) => {
        fc.pre(!LONG_NUMBER.test(text));
        expect(parseJson(text)).toEqual(plain(text));
      }),
    );
  });

  it.each(['0{"sid":"s"}', '42["news",1]', 'event', '', '{"a":1', 'nul', '-', '"', '2probe'])(
    'is not fooled by the beginning of %s',
    (text) => {
      expect(parseJson(text)).toEqual(plain(text));
    },
  );

  it('S7: keeps every digit of an integer that a double would round', () => {
    expect(parseJson('{"a":9007199254740993,"b":9007199254740991,"c":1.5}')).toEqual({
      a: '9007199254740993',
      b: 9007199254740991,
      c: 1.5,
    });
  });
});
