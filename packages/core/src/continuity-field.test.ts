import fc from 'fast-check';
import { parseDictionary } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { readContinuity } from './continuity.ts';
import type { Continuity } from './continuity-field.ts';
import { describeContinuity, writeContinuity } from './continuity-field.ts';

fc.configureGlobal({ numRuns: 100 * Number(process.env['SAMERIVER_FUZZ'] ?? 1) });

const text = fc.string({ unit: 'binary', maxLength: 40 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const continuity: fc.Arbitrary<Continuity> = fc.record({
  status: fc.constantFrom('initialized', 'resumed', 'reset', 'unknown'),
  epoch: optional(text),
  from: optional(text),
  received: optional(text),
  next: optional(text),
  oldest: optional(text),
  newest: optional(text),
  window: optional(fc.nat()),
  dense: optional(fc.boolean()),
  reason: optional(fc.constantFrom('unknown-id', 'evicted', 'other-gen', 'malformed')),
});

function members(said: Continuity): Record<string, unknown> {
  const { epoch, dense, ...rest } = said;
  const all = { ...rest, gen: epoch, ...(dense && { dense }) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

describe('the Stream-Continuity field', () => {
  it('is a dictionary of RFC 9651 to a reader that is not ours, and says what was said', () => {
    fc.assert(
      fc.property(continuity, (said) => {
        const field = writeContinuity(said);
        fc.pre(field !== undefined);
        const read = [...parseDictionary(field)].map(([key, [value]]) => [key, plain(value)]);
        expect(Object.fromEntries(read)).toEqual(members(said));
      }),
    );
  });

  it('comes back as it was said from our own reader', () => {
    fc.assert(
      fc.property(continuity, (said) => {
        const field = writeContinuity(said);
        const read = readContinuity(field, said.received ?? said.from ?? undefined);
        fc.pre(field !== undefined);
        expect(Object.fromEntries(read ?? [])).toEqual(members(said));
      }),
    );
  });

  it.each([
    ['longer than readers take', { status: 'unknown', received: 'x'.repeat(1024) }],
    ['with half a character', { status: 'unknown', received: '\ud800' }],
    ['with a window of no whole number', { status: 'unknown', window: 1.5 }],
    ['with a window below nothing', { status: 'unknown', window: -1 }],
  ] as const)('is not written %s', (_, said) => {
    expect(writeContinuity(said)).toBeUndefined();
  });

  it.each([
    [
      'a stream that begins, whatever was found',
      '',
      { found: { kind: 'kept' } },
      'status=initialized, gen="g"',
    ],
    ['what arrived, and no claim', '7', {}, 'status=unknown, gen="g", received="7"'],
    [
      'the cursor honoured, and what comes next',
      '7',
      { found: { kind: 'kept', next: '8', newest: '9' }, window: 200, dense: true },
      'status=resumed, gen="g", from="7", next="8", newest="9", window=200, dense',
    ],
    [
      'no window where numbers have holes, because readers would subtract it',
      '7',
      { found: { kind: 'kept', newest: '90' }, window: 200 },
      'status=resumed, gen="g", from="7", newest="90"',
    ],
    [
      'L1: events that are gone',
      '7',
      { found: { kind: 'evicted', oldest: '12', newest: '90' }, dense: true },
      'status=reset, gen="g", received="7", oldest="12", newest="90", dense, reason=evicted',
    ],
    [
      'L1: a cursor that this log never issued',
      '7',
      { found: { kind: 'unknown' } },
      'status=reset, gen="g", received="7", reason=unknown-id',
    ],
  ] as const)('says %s', (_, cursor, facts, field) => {
    expect(writeContinuity(describeContinuity(cursor, { epoch: 'g', ...facts }))).toBe(field);
  });
});

/** Tokens and Display Strings are objects to the other reader. */
function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? String(value) : value;
}
