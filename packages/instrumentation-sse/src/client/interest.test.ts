import { expect, test } from 'vitest';
import { interestIn, isEventStream, isRedirect } from './interest.ts';

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
