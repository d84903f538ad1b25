import { expect, test } from 'vitest';
import { printable } from './terminal.ts';

test('text of a transcript cannot steer the terminal', () => {
  expect(printable('\u001b[2Jgone\r\n')).toBe('\\u{1b}[2Jgone\\u{d}\\u{a}');
  expect(printable('right\u202eto left')).toBe('right\\u{202e}to left');
});

test('other text stays as it is', () => {
  expect(printable('Straße, 事件, 😀')).toBe('Straße, 事件, 😀');
});
