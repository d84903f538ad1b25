import type { Transcript } from '@sameriver/core';
import { parseTranscript } from '@sameriver/core';
import type { ConnectionPart } from '@sameriver/testkit';
import { incidents, transcriptJson } from '@sameriver/testkit';
import { describe, expect, test } from 'vitest';
import { wireScript } from './wire-script.ts';

const transcriptOf = (...parts: ConnectionPart[]): Transcript =>
  parseTranscript(transcriptJson(...parts));

const skipped = (why: string) => ({ kind: 'skipped', why });

test('a transcript with a WebSocket in it is left to the rules', () => {
  const others = incidents()
    .map(({ json }) => parseTranscript(json))
    .filter(({ connections }) => connections.some(({ transport }) => transport === 'websocket'));
  expect(others.length).toBeGreaterThan(0);
  for (const transcript of others) {
    expect(wireScript(transcript)).toEqual(
      skipped('WebSocket replay comes with @sameriver/instrumentation-websocket'),
    );
  }
});

test('headers that say how a recorded message was carried are left out, on both ways', () => {
  const carriage = { Connection: 'close', 'Content-Length': '7', 'content-encoding': 'gzip' };
  const script = wireScript(
    transcriptOf({
      request: { headers: { ...carriage, Host: 'recorded.example', 'X-Kept': '1' } },
      response: { headers: { ...carriage, 'Content-Type': 'text/event-stream' } },
    }),
  );
  expect(script).toMatchObject({ kind: 'script' });
  const hop = script.kind === 'script' ? script.attempts[0]?.hops[0] : undefined;
  expect(hop?.request.headers).toEqual({ 'x-kept': '1' });
  expect(hop?.answer?.headers).toEqual({ 'content-type': 'text/event-stream' });
});

test.each(['open', 'reset'])('an answer without a body cannot stay %s', (ends) => {
  const script = wireScript(transcriptOf({ response: { status: 204, headers: {} }, ends }));
  expect(script).toMatchObject({ attempts: [{ hops: [{ ends: 'eof' }] }] });
});

describe('what HTTP cannot carry', () => {
  test.each([
    [{ response: { status: 101 } }, 'HTTP has no final answer with status 101'],
    [{ ends: 'close:1006' }, 'no HTTP response ends with close:1006'],
    [
      { response: { headers: { 'x-echo': '事件' } } },
      'HTTP cannot carry this answer: Invalid character in header content ["x-echo"]',
    ],
    [
      { response: { headers: { 'two words': '' } } },
      'HTTP cannot carry this answer: Header name must be a valid HTTP token ["two words"]',
    ],
    [
      { response: { status: 204 }, frames: [{ data: 'x' }] },
      'the answer 204 to GET has no body that could carry frames',
    ],
    [
      { request: { method: 'HEAD' }, frames: [{ data: 'x' }] },
      'the answer 200 to HEAD has no body that could carry frames',
    ],
  ])('%j', (part, why) => {
    expect(wireScript(transcriptOf(part))).toEqual(skipped(why));
  });
});

describe('hops of one attempt (L6)', () => {
  const indices = (...parts: ConnectionPart[]) => {
    const script = wireScript(transcriptOf(...parts));
    if (script.kind === 'skipped') return script.why;
    return script.attempts.map(({ hops }) => hops.map(({ index }) => index));
  };
  const to = (location: string, status = 302) => ({ response: { status, headers: { location } } });

  test('a redirect is joined with the connection to which it leads', () => {
    expect(indices({}, to('/b'), { request: { path: '/b' } }, {})).toEqual([[0], [1, 2], [3]]);
  });

  test('redirects in a row are one attempt', () => {
    const parts = [to('/b'), { request: { path: '/b' }, ...to('/c') }, { request: { path: '/c' } }];
    expect(indices(...parts)).toEqual([[0, 1, 2]]);
  });

  test.each(['/b', 'https://elsewhere.invalid/b', '//elsewhere.invalid/b'])(
    'the location %s leads to /b',
    (location) => {
      expect(indices(to(location), { request: { path: '/b' } })).toEqual([[0, 1]]);
    },
  );

  test('a redirect out of the transcript ends an attempt that follows redirects', () => {
    const parts = [to('/b'), { request: { path: '/b' }, ...to('https://elsewhere.invalid/') }];
    expect(indices(...parts)).toBe('a client that follows redirects would leave the transcript');
    expect(indices(to('https://elsewhere.invalid/'))).toEqual([[0]]);
  });

  test('another path, another status or no location are attempts of their own', () => {
    expect(indices(to('/c'), { request: { path: '/b' } })).toEqual([[0], [1]]);
    expect(indices(to('/b', 200), { request: { path: '/b' } })).toEqual([[0], [1]]);
    expect(indices({ response: { status: 302 } }, { request: { path: '/feed' } })).toEqual([
      [0],
      [1],
    ]);
  });
});
