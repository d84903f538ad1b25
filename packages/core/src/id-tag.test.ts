import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idTagOf } from './id-tag.ts';
import { SseScanner } from './sse/scanner.ts';

describe('idTagOf', () => {
  it('equals the tag of the scanner, so that an id is one id on every transport', () => {
    let scanned = 0;
    const sink = {
      event: ({ idTag }: SseScanner): void => {
        scanned = idTag;
      },
    };
    const id = fc.oneof(
      fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    );
    fc.assert(
      fc.property(id, (text) => {
        fc.pre(!/[\0\r\n]/.test(text) && !text.startsWith(' '));
        new SseScanner(sink).pushString(`id: ${text}\ndata: x\n\n`);
        expect(scanned).toBe(idTagOf(text));
      }),
      { numRuns: 2000 },
    );
  });
});
