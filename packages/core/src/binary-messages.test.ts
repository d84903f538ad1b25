import fc from 'fast-check';
import { expect, test } from 'vitest';
import { binaryMessages } from './binary-messages.ts';
import type { BinaryDecoder } from './messages.ts';

/** Stands for a decoder: a value is the list of its bytes. */
const listing: BinaryDecoder = (_, bytes) => [[...bytes]];

const valuesOf = (bytes: Uint8Array, decode: BinaryDecoder | undefined = listing): unknown =>
  binaryMessages('msgpack-lp', bytes, decode)?.map(({ value }) => value);

function prefixed(part: readonly number[]): number[] {
  const groups: number[] = [];
  let rest = part.length;
  do {
    groups.push((rest % 128) + (rest >= 128 ? 128 : 0));
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return [...groups, ...part];
}

test('length-prefixed messages are told apart, whatever is in them', () => {
  const parts = fc.array(fc.array(fc.nat(255), { maxLength: 300 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(parts, (all) => {
      expect(valuesOf(new Uint8Array(all.flatMap(prefixed)))).toEqual(all);
    }),
  );
});

test('a frame of any bytes never throws', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(() => valuesOf(bytes)).not.toThrow();
    }),
  );
});

test('lengths that do not add up are not read', () => {
  expect(valuesOf(new Uint8Array([3, 1, 2]))).toBeUndefined();
  expect(valuesOf(new Uint8Array([0x80, 0x80, 0x80, 0x80, 0x80, 0x01]))).toBeUndefined();
  expect(valuesOf(new Uint8Array([0x80]))).toBeUndefined();
});

test('the handshake of such a protocol is JSON, as bytes too', () => {
  const handshake = new TextEncoder().encode('{"protocol":"messagepack","version":1}\u001e');
  expect(valuesOf(handshake)).toEqual([{ protocol: 'messagepack', version: 1 }]);
});

test('without a decoder, and above a mebibyte, nothing is read', () => {
  expect(binaryMessages('msgpack-lp', new Uint8Array([1, 1]), undefined)).toBeUndefined();
  expect(binaryMessages('msgpack', new Uint8Array([1]), undefined)).toBeUndefined();
  expect(binaryMessages('msgpack', new Uint8Array((1 << 20) + 1), listing)).toBeUndefined();
  expect(binaryMessages('json', new Uint8Array([1]), listing)).toBeUndefined();
});
