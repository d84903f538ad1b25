import { expect, test } from 'vitest';
import {
  carriesEventStream,
  interestIn,
  isEventStream,
  isRedirect,
  mayAnnounceMove,
  mayContinue,
} from './interest.ts';

test.each([
  ['GET', 'text/event-stream', false, 'follow'],
  ['GET', 'application/json, Text/Event-Stream', false, 'follow'],
  ['POST', 'text/event-stream', false, 'follow'],
  ['POST', 'application/json, text/event-stream', false, 'expect'],
  ['POST', 'text/event-stream, application/json', false, 'expect'],
  ['POST', 'application/json, text/event-stream', true, 'follow'],
  ['GET', undefined, true, 'follow'],
  ['GET', '*/*', false, 'watch'],
  ['POST', 'application/json, text/plain', false, 'watch'],
  ['GET', undefined, false, 'watch'],
  ['HEAD', 'text/event-stream', true, 'pass'],
  ['CONNECT', undefined, false, 'pass'],
] as const)(
  '%s with Accept %s, resuming %s, is one to %4$s',
  (method, accept, resumes, interest) => {
    expect(interestIn(method, accept, resumes)).toBe(interest);
  },
);

test.each([
  ['text/event-stream', true],
  ['TEXT/Event-Stream; charset=utf-8', true],
  ['text/event-stream;charset=utf-8', true],
  ['text/event-streams', false],
  ['text/html', false],
  ['', false],
  [undefined, false],
])('a body of type %s is an event stream: %s', (type, stream) => {
  expect(isEventStream(type)).toBe(stream);
});

test('304 and 300 send nobody anywhere', () => {
  expect([300, 301, 302, 303, 304, 307, 308].filter(isRedirect)).toEqual([301, 302, 303, 307, 308]);
});

test.each([
  [
    'buffers',
    [
      Buffer.from('X'),
      Buffer.from('y'),
      Buffer.from('CONTENT-type'),
      Buffer.from('text/event-stream'),
    ],
    true,
  ],
  ['strings', ['Content-Type', 'text/event-stream; charset=utf-8'], true],
  ['an object of HTTP/2', { 'content-type': 'text/event-stream' }, true],
  ['a type that is shorter', ['Content-Type', 'application/json'], false],
  ['a type that is longer', ['Content-Type', 'text/html; charset=utf-8'], false],
  ['another header of that length', [Buffer.from('content-typo'), 'text/event-stream'], false],
  ['none', [], false],
])('response headers as %s', (_, headers, stream) => {
  expect(carriesEventStream(headers)).toBe(stream);
});

test.each([
  ['GET', '/feed?since=7', true],
  ['GET', '/feed', false],
  ['GET', '/session/7/upgrade', false],
  ['POST', '/feed?since=7', false],
  ['POST', '/session/7/upgrade', true],
  ['POST', '/session/7/upgrade?from=3', true],
  ['POST', '/session/7/upgrades', false],
])('L3, M1: whether %s %s is worth a question: %s', (method, target, isWorthIt) => {
  expect(mayContinue(method, target)).toBe(isWorthIt);
});

test('M1: only a POST announces a move', () => {
  expect(mayAnnounceMove('POST', '/session/7/upgrade')).toBe(true);
  expect(mayAnnounceMove('GET', '/session/7/upgrade')).toBe(false);
});
