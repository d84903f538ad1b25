import { describe, expect, test } from 'vitest';
import { UsageError } from './command.ts';
import { parseReplayOptions } from './replay-options.ts';

test('a file alone is played to fetch, and the verdicts are those of the client', () => {
  expect(parseReplayOptions(['a.json'])).toEqual({
    files: ['a.json'],
    format: 'text',
    carriage: 'wire',
    via: 'fetch',
    side: 'client',
  });
});

test('options may stand before, between and after the files', () => {
  expect(parseReplayOptions(['--json', 'a', '--via=http', 'b', '--side', 'server'])).toEqual({
    files: ['a', 'b'],
    format: 'json',
    carriage: 'wire',
    via: 'http',
    side: 'server',
  });
});

test('--pure opens no socket', () => {
  expect(parseReplayOptions(['a', '--pure'])).toMatchObject({ carriage: 'pure' });
});

test('--help wins over a missing file', () => {
  expect(parseReplayOptions(['--help'])).toBe('help');
  expect(parseReplayOptions(['-h', 'a'])).toBe('help');
});

describe('a command line that makes no sense is told what is wrong with it', () => {
  test.each<[string[], RegExp]>([
    [[], /^no FILE given$/],
    [['--json'], /^no FILE given$/],
    [['a', '--fast'], /^unknown option '--fast'$/],
    [['a', '-x'], /^unknown option '-x'$/],
    [
      ['a', '--via', 'curl'],
      /^--via "curl" is none of fetch, eventsource, http, undici, ws, global$/,
    ],
    [['a', '--side', 'middle'], /^--side "middle" is none of client, server$/],
    [['a', '--via'], /^option '--via <value>' argument missing$/],
    [['a', '--json=yes'], /^option '--json' does not take an argument$/],
    [['a', '--pure', '--via', 'http'], /^--pure uses no client and no server/],
    [['a', '--pure', '--side', 'server'], /^--pure uses no client and no server/],
  ])('%j', (args, message) => {
    const attempt = () => parseReplayOptions(args);
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(message);
  });
});
