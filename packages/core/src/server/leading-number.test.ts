import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { peekMember } from '../json-member.ts';
import { leadingNumber } from './leading-number.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('leadingNumber', () => {
  it('is what stands at the beginning, in text as in bytes', () => {
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), fc.string(), (seq, isAlone, t) => {
        const text = JSON.stringify(isAlone ? { seq } : { seq, t });
        expect(leadingNumber(text, 'seq')).toBe(seq);
        expect(leadingNumber(bytes(text), 'seq')).toBe(seq);
      }),
    );
  });

  it('never says what looking for the member would not say', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'{}"seq:,0189- ') });
    fc.assert(
      fc.property(texts, (tail) => {
        const text = `{"seq":${tail}`;
        const number = leadingNumber(text, 'seq');
        expect(leadingNumber(bytes(text), 'seq')).toBe(number);
        if (number >= 0) expect(peekMember(text, 'seq')).toBe(number);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['another name', '{"sea":1}'],
    ['a longer name', '{"seqs":1}'],
    ['a space', '{ "seq":1}'],
    ['a space before the value', '{"seq": 1}'],
    ['a leading zero', '{"seq":01}'],
    ['a sign', '{"seq":-1}'],
    ['a fraction', '{"seq":1.5}'],
    ['an exponent', '{"seq":1e3}'],
    ['a string', '{"seq":"1"}'],
    ['no digit', '{"seq":}'],
    ['more digits than a double holds', '{"seq":1234567890123456}'],
    ['an end before its own', '{"seq":12'],
    ['nothing', ''],
  ])('is none where there is %s', (_what, text) => {
    expect(leadingNumber(text, 'seq')).toBe(-1);
    expect(leadingNumber(bytes(text), 'seq')).toBe(-1);
  });

  it('knows names beyond ASCII in text, and leaves them alone in bytes', () => {
    expect(leadingNumber('{"é":7}', 'é')).toBe(7);
    expect(leadingNumber(bytes('{"é":7}'), 'é')).toBe(-1);
  });
});
