import { describe, expect, it } from 'vitest';
import type { CodecName } from './codecs.ts';
import { codecFromPattern, codecNamed } from './codecs.ts';
import type { Order } from './position.ts';
import { distanceFromWanted, relate } from './relate.ts';

const order = (name: CodecName, left: string, right: string, separator?: string): Order | 'no' => {
  const codec = codecNamed(name, separator);
  const a = codec.parse(left);
  const b = codec.parse(right);
  return a && b ? codec.order(a, b) : 'no';
};

const rows: readonly [CodecName, string, string, Order | 'no'][] = [
  ['opaque', 'a', 'a', 'same'],
  ['opaque', 'a', 'b', 'incomparable'],
  ['int', '2', '10', 'before'],
  ['int', '9007199254740993', '9007199254740992', 'after'],
  ['int', '0', '0', 'same'],
  ['int', '007', '8', 'no'],
  ['int', '-1', '8', 'no'],
  ['padded-int', '0009', '0010', 'before'],
  ['pair', '132-2', '132-10', 'before'],
  ['pair', '5_inf', '5_9999999', 'after'],
  ['pair', '26800000', '26800000_0', 'same'],
  ['epoch-seq', 'x1-9', 'x1-10', 'before'],
  ['epoch-seq', 'x1-9', 'x2-10', 'incomparable'],
  ['epoch-seq', 'a:b:7', 'a:b:6', 'after'],
  ['stream-ts-rand', 's_1753600000000_aa', 's_1753600000001_ab', 'before'],
  ['stream-ts-rand', 's_1753600000000_aa', 't_1753600000001_ab', 'before'],
  ['stream-ts-rand', 's_1753600000000_aa', 's_1753600000000_ab', 'incomparable'],
  ['stream-seq', 's_9', 's_10', 'before'],
  ['stream-seq', 's_9', 't_10', 'incomparable'],
  ['ulid', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '01BX5ZZKBKACTAV9WEVGEMMVRZ', 'before'],
  ['ulid', '81ARZ3NDEKTSV4RRFFQ69G5FAV', '01BX5ZZKBKACTAV9WEVGEMMVRZ', 'no'],
  [
    'uuid',
    '018f0000-0000-7000-8000-000000000000',
    '018f0000-0001-7000-8000-000000000000',
    'before',
  ],
  [
    'uuid',
    '079a7049-d873-45a8-87e1-3c9d41751512',
    'fd559456-a586-4220-9d89-cedebce11b5d',
    'incomparable',
  ],
  ['ksuid', '0ujtsYcgvSTl8PAuAdqWYSMnLOv', '0ujzPyRiIAffKhBux4PvQdDqMHY', 'before'],
  ['bytes', '0000_0042', '0000_0096', 'before'],
  ['bytes', 'a', 'ab', 'before'],
  ['bytes', '\uffee', '\u{1f600}', 'before'],
];

const vector = (...offsets: number[]): string =>
  JSON.stringify(offsets.map((offset, i) => ({ topic: `t${i}`, partition: 0, offset })));

describe('codecs', () => {
  it.each(rows)('S7: %s reads %s and %s as %s', (name, left, right, expected) => {
    expect(order(name, left, right)).toBe(expected);
  });

  it('S7: a vector falls back where one of its partitions does, and skips what has no offset', () => {
    expect(order('vector-json', vector(9041, -1), vector(5_000_122, -1))).toBe('before');
    expect(order('vector-json', vector(7, 900), vector(8, 2))).toBe('before');
    expect(order('vector-json', vector(8, 2), vector(8, -1))).toBe('same');
    expect(order('vector-json', vector(9, 2), vector(8, 2))).toBe('after');
    expect(order('vector-json', '[]', vector(1))).toBe('no');
    expect(order('vector-json', '{"a":1}', vector(1))).toBe('no');
  });

  it('reads a grammar of named groups and compares inside one stream and epoch only', () => {
    const codec = codecFromPattern('^(?<pos>\\d+)/(?<stream>.+)/(?<epoch>[^/]+)$', 'int');
    const at = (text: string): NonNullable<ReturnType<typeof codec.parse>> => {
      const position = codec.parse(text);
      if (position === undefined) throw new Error(`${text} was not read`);
      return position;
    };
    expect(at('2/chat_42/y2023')).toMatchObject({ stream: 'chat_42', epoch: 'y2023', value: 2n });
    expect(codec.order(at('2/a/e'), at('10/a/e'))).toBe('before');
    expect(codec.order(at('2/a/e'), at('10/b/e'))).toBe('incomparable');
    expect(codec.parse('chat_42')).toBeUndefined();
  });

  it('R18: takes density and meaning from the first choice whose grammar fits both ids', () => {
    const choices = [
      { codec: codecNamed('stream-seq'), dense: true, means: 'last' as const },
      { codec: codecNamed('int'), dense: false, means: 'next' as const },
    ];
    expect(relate(choices, 's_1', 's_3')).toMatchObject({ dense: true, order: 'after' });
    expect(relate(choices, '1', '3')).toMatchObject({ dense: false, means: 'next' });
    expect(relate(choices, 's_1', '3')).toMatchObject({ dense: false, order: 'incomparable' });
  });

  it.each([
    ['last', 0n],
    ['next', 1n],
    ['inclusive', 0n],
  ] as const)(
    'counts a hole from the first wanted position where the cursor means %s',
    (means, n) => {
      const choices = [{ codec: codecNamed('int'), dense: true, means }];
      expect(distanceFromWanted(relate(choices, '5', '6'))).toBe(n);
    },
  );

  it('costs bounded time on an id of ten thousand digits', () => {
    expect(codecNamed('int').parse('9'.repeat(10_000))).toBeUndefined();
  });
});
