import { expect, test } from 'vitest';
import { headerLookup } from './header-lookup.ts';

test.each([
  ['a list of strings', ['X-One', 'a', 'x-two', 'b', 'X-ONE', 'c']],
  [
    'a list of buffers',
    ['x-one', 'a', 'x-two', 'b', 'X-One', 'c'].map((text) => Buffer.from(text)),
  ],
  ['a list with repeated values', ['X-One', ['a', 'c'], 'X-Two', 'b']],
  ['an object', { 'X-One': ['a', 'c'], 'x-two': 'b' }],
  ['a block of text', 'X-One: a\r\nX-Two: b\r\nx-one:c\r\n'],
])('%s is looked up without regard to case, and repeated headers are joined', (_, headers) => {
  const header = headerLookup(headers);
  expect(header('x-one')).toBe('a, c');
  expect(header('x-two')).toBe('b');
  expect(header('x-three')).toBeUndefined();
});

test.each([[undefined], [null], [7], [[]], [['odd']]])('%j has no headers', (headers) => {
  expect(headerLookup(headers)('x')).toBeUndefined();
});

test('bytes above ASCII come as Latin-1, as fetch hands them out', () => {
  const header = headerLookup([Buffer.from('last-event-id'), Buffer.from([0x68, 0xe9])]);
  expect(header('last-event-id')).toBe('h\u00e9');
});
