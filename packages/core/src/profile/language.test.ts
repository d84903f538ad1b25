import { describe, expect, it } from 'vitest';
import { ShapeError } from '../shape.ts';
import { BUILT_IN_PROFILES } from './built-in.ts';
import { compileCondition, holds } from './condition.ts';
import type { Subject } from './place.ts';
import { parsePlace, readPlace } from './place.ts';
import type { Condition } from './profile.ts';
import { validateProfile } from './validate.ts';

const subject: Subject = {
  requestHeader: (name) => (name === 'last-event-id' ? '7' : undefined),
  query: (name) => (name === 'since' ? '3' : undefined),
  responseHeader: (name) => (name === 'etag' ? '"handle:26_0:30_0"' : undefined),
  sentJson: () => 'pid-1',
  continuity: new Map([['gen', 'g1']]),
  sse: { id: '9', event: 'tick', data: '{}' },
  json: { a: { b: [1, 2, { c: 'x' }] }, flags: 5, 'm~n': 't', 'p/q': 'u', pid: 'pid-1', n: null },
  position: { text: 'e-1', epoch: 'e', stream: 's' },
  status: 409,
  close: 4009,
  path: '/rooms/12?x=1',
};

const places: readonly [string, string | undefined][] = [
  ['req-header:Last-Event-ID', '7'],
  ['query:since', '3'],
  ['header:etag~^"?[^:]+:([^:]+):', '26_0'],
  ['sse:id', '9'],
  ['sse:event', 'tick'],
  ['json:/a/b/0', '1'],
  ['json:/a/b/-1/c', 'x'],
  ['json:/m~0n', 't'],
  ['json:/p~1q', 'u'],
  ['json:/n', undefined],
  ['json:/a', undefined],
  ['sent-json:/d/pid', 'pid-1'],
  ['continuity:gen', 'g1'],
  ['codec:epoch', 'e'],
  ['codec:stream', 's'],
  ['json:/a/b/0+json:/flags', '1_5'],
  ['json:/a/b/0+json:/nothing', undefined],
  ['path~^/rooms/(\\d+)', '12'],
];

const conditions: readonly [Condition, boolean][] = [
  [{ 'json:/flags': 5 }, true],
  [{ 'json:/flags': '5' }, false],
  [{ 'query:since': 3 }, true],
  [{ 'json:/flags': [4, 5] }, true],
  [{ 'json:/flags': { bit: 4 } }, true],
  [{ 'json:/flags': { bit: 2 } }, false],
  [{ 'json:/flags': { bitClear: 2 } }, true],
  [{ 'json:/absent': { absent: true } }, true],
  [{ 'json:/n': { present: true } }, true],
  [{ 'json:/pid': { equals: 'sent-json:/d/pid' } }, true],
  [{ 'json:/flags': { equals: 'sent-json:/d/pid' } }, false],
  [{ 'json:/a/b/*/c': 'x' }, true],
  [{ status: [404, 409] }, true],
  [{ close: 4009, status: 200 }, false],
  [{ 'json:/pid': 'pid-1', 'sse:event': 'tick' }, true],
];

describe('the profile language', () => {
  it.each(places)('reads %s as %s', (text, expected) => {
    expect(readPlace(parsePlace(text), subject, '_')).toBe(expected);
  });

  it.each(conditions)('asks %j: %s', (condition, expected) => {
    expect(holds(compileCondition(condition), subject)).toBe(expected);
  });

  it.each([
    [{ name: 'x', cursor: { sent: ['cookie:id'] } }, '(document)', 'no place'],
    [{ name: 'x', match: { transport: 'grpc' } }, '/match/transport', 'sse, websocket'],
    [{ name: 'x', cursor: { codec: 'intt' } }, '/cursor/codec', 'opaque'],
    [{ name: 'x', cusror: {} }, '/cusror', 'unknown key'],
    [{ name: 'x', match: { path: '(' } }, '(document)', 'profile "x"'],
    [{ name: 'x', cursor: { dense: 'yes' } }, '/cursor/dense', 'true or false'],
    [{ cursor: {} }, '/name', 'needs a name'],
    ['profile', '(document)', 'expected an object'],
  ])('names place and reason of a bad profile: %j', (profile, place, reason) => {
    const attempt = (): unknown => validateProfile(profile);
    expect(attempt).toThrow(ShapeError);
    expect(attempt).toThrow(place);
    expect(attempt).toThrow(reason);
  });

  it('accepts its own built-ins as a user could write them', () => {
    for (const profile of BUILT_IN_PROFILES) {
      expect(validateProfile(structuredClone(profile)).name).toBe(profile.name);
    }
  });

  it.each([
    '/runs',
    '/threads/x',
    '/chat/x',
    '/responses',
    '/graphql',
    '/.well-known',
    '/v1/shape',
  ])(
    'costs the length of a path and not its square, in every built-in, for many times %s',
    (segment) => {
      const subject: Subject = { path: `${segment.repeat(100_000)}/end` };
      for (const { match } of BUILT_IN_PROFILES) {
        for (const sign of match?.signs ?? []) {
          expect(typeof holds(compileCondition(sign), subject)).toBe('boolean');
        }
      }
    },
  );

  it.each([
    ['/threads/t1/runs/stream', true],
    ['/api/runs/r1/stream?x=1', true],
    ['/threads/t1/runs?stream', false],
    ['/stream/runs/r1', false],
  ])('takes %s for a stream of a run: %s', (path, expected) => {
    const langgraph = BUILT_IN_PROFILES.find(({ name }) => name === 'langgraph');
    const [sign = {}] = langgraph?.match?.signs ?? [];
    expect(holds(compileCondition(sign), { path })).toBe(expected);
  });

  it('does not read inherited members', () => {
    const place = parsePlace('json:/constructor/name');
    expect(readPlace(place, { json: {} }, '_')).toBeUndefined();
  });
});
