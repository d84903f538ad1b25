import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBinary } from './decode-binary.ts';

const { encode } = createRequire(import.meta.url)('@msgpack/msgpack') as {
  encode(value: unknown, options?: { readonly useBigInt64: boolean }): Uint8Array;
};

const ofJson = fc.jsonValue({ depthSize: 'small' }).filter((value) => !hasProto(value));

function hasProto(value: unknown): boolean {
  return JSON.stringify(value).includes('"__proto__"');
}

test('what JSON can say is the same after a way over MessagePack', () => {
  fc.assert(
    fc.property(ofJson, (value) => {
      // JSON knows no -0.
      const [decoded] = decodeBinary('msgpack', encode(value));
      expect(JSON.stringify(decoded)).toBe(JSON.stringify(value));
    }),
  );
});

test('S7: integers beyond 2^53 keep every digit', () => {
  const bytes = encode({ offset: 9_007_199_254_740_993n, small: 7n }, { useBigInt64: true });
  expect(decodeBinary('msgpack', bytes)).toEqual([{ offset: '9007199254740993', small: 7 }]);
});

test('bytes and times are as JSON writes them', () => {
  const bytes = encode({ data: new Uint8Array([1, 2]), at: new Date(0) });
  expect(decodeBinary('msgpack', bytes)).toEqual([
    { data: 'AQI=', at: '1970-01-01T00:00:00.000Z' },
  ]);
});

describe('a hostile frame', () => {
  test('of any bytes is nothing, or one value that can be written as text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const values = decodeBinary('msgpack', bytes);
        expect(values.length).toBeLessThanOrEqual(1);
        expect(() => JSON.stringify(values)).not.toThrow();
      }),
      { numRuns: 2_000 },
    );
  });

  test('that is cut off or goes on behind its value is nothing', () => {
    fc.assert(
      fc.property(ofJson, fc.nat(), (value, at) => {
        const bytes = encode(value);
        expect(decodeBinary('msgpack', bytes.subarray(0, at % bytes.length))).toEqual([]);
        expect(decodeBinary('msgpack', new Uint8Array([...bytes, 0]))).toEqual([]);
      }),
    );
  });

  test.each([
    ['nests a million deep', new Uint8Array(1 << 20).fill(0x91)],
    ['claims four thousand million items', new Uint8Array([0xdd, 255, 255, 255, 255])],
    ['claims sixteen million items', new Uint8Array([0xdd, 1, 0, 0, 0, 0])],
    ['claims pairs that are not there', new Uint8Array([0xdf, 255, 255, 255, 255, 0])],
    ['claims a text that is not there', new Uint8Array([0xdb, 255, 255, 255, 255])],
    [
      'claims arrays in arrays',
      new Uint8Array(3 << 12).map((_, i) => [0xdc, 255, 255][i % 3] ?? 0),
    ],
    ['has a reserved byte', new Uint8Array([0xc1])],
    ['is empty', new Uint8Array()],
    ['names a prototype', encode({ ['__proto__']: 1 })],
  ])('that %s is nothing', (_, bytes) => {
    expect(decodeBinary('msgpack', bytes)).toEqual([]);
  });
});
