import type { Transcript } from '@sameriver/core';
import { parseTranscript } from '@sameriver/core';
import type { ConnectionPart } from '@sameriver/testkit';
import { incidents, transcriptJson } from '@sameriver/testkit';
import { describe, expect, test } from 'vitest';
import { wireScript } from './wire-script.ts';

const transcriptOf = (...parts: ConnectionPart[]): Transcript =>
  parseTranscript(transcriptJson(...parts));

const skipped = (why: string) => ({ kind: 'skipped', why });

test('every incident can be carried, whatever transports it has', () => {
  for (const { json } of incidents()) {
    expect(wireScript(parseTranscript(json))).toMatchObject({ kind: 'script' });
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

describe('a WebSocket', () => {
  const socket = (part: ConnectionPart): ConnectionPart => ({ transport: 'websocket', ...part });
  const hopOf = (part: ConnectionPart): unknown => {
    const script = wireScript(transcriptOf(socket(part)));
    return script.kind === 'script' ? script.attempts[0]?.hops[0] : script.why;
  };

  test('is said message by message, each by its side', () => {
    const frames = [
      { recv: 'a' },
      { sent: 'b' },
      { recvBase64: 'AP8=' },
      { comment: 'no message' },
    ];
    expect(hopOf({ frames })).toMatchObject({
      transport: 'websocket',
      messages: [
        { by: 'server', data: 'a' },
        { by: 'client', data: 'b' },
        { by: 'server', data: Buffer.from([0, 255]) },
      ],
    });
  });

  test('leaves the headers of the handshake itself to the libraries, but not the sub-protocols', () => {
    const handshake = {
      Upgrade: 'websocket',
      Connection: 'Upgrade',
      'Sec-WebSocket-Key': 'AAAA',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Extensions': 'permessage-deflate',
      'Sec-WebSocket-Accept': 'BBBB',
      'Sec-WebSocket-Protocol': 'v1',
    };
    const kept = { 'sec-websocket-protocol': 'v1' };
    expect(hopOf({ request: { headers: handshake }, response: { headers: handshake } })).toEqual(
      expect.objectContaining({
        request: expect.objectContaining({ headers: kept }),
        answer: expect.objectContaining({ headers: kept }),
      }),
    );
  });

  test.each<[string, unknown]>([
    ['eof', 'drop'],
    ['close:1006', 'drop'],
    ['reset', 'reset'],
    ['open', 'open'],
    ['close:1005', { code: undefined }],
    ['close:1000', { code: 1000 }],
    ['close:4409', { code: 4409 }],
  ])('that ends with %s', (ends, end) => {
    expect(hopOf({ ends })).toMatchObject({ ends: end });
  });

  test.each<[ConnectionPart, string]>([
    [
      { request: { method: 'POST' } },
      'the handshake of a WebSocket is a GET; no client sends POST',
    ],
    [{ request: { body: '{}' } }, 'the handshake of a WebSocket has no body'],
    [{ response: { status: 103 } }, 'HTTP has no final answer with status 103'],
    [
      { response: { status: 401 }, frames: [{ recv: 'x' }] },
      'a handshake that is answered 401 opens no WebSocket that could carry frames',
    ],
    [{ ends: 'close:1004' }, 'no close frame holds the code 1004'],
    [{ ends: 'close:1015' }, 'no close frame holds the code 1015'],
    [{ ends: 'close:2999' }, 'no close frame holds the code 2999'],
    [{ ends: 'close:5000' }, 'no close frame holds the code 5000'],
    [{ frames: [{ recv: '\ud800' }] }, 'a lone surrogate is no UTF-8, and a message of text is'],
    [{ frames: [{ sent: '\udc00x' }] }, 'a lone surrogate is no UTF-8, and a message of text is'],
    [
      { response: { headers: { 'x-echo': 'é' } } },
      'the 101 of this server carries ASCII only ["x-echo"]',
    ],
    [
      { response: { status: 409, headers: { 'x-echo': '事件' } } },
      'HTTP cannot carry this answer: Invalid character in header content ["x-echo"]',
    ],
  ])('cannot be %j', (part, why) => {
    expect(hopOf(part)).toBe(why);
  });

  test('L6: is reached by redirects of handshakes, not by those of other requests', () => {
    const to = { response: { status: 302, headers: { location: '/b' } } };
    const there = { request: { path: '/b' } };
    expect(wireScript(transcriptOf(socket(to), socket(there)))).toMatchObject({
      attempts: [{ transport: 'websocket', hops: [{ index: 0 }, { index: 1 }] }],
    });
    const why = 'no redirect leads to a WebSocket, and none away from one';
    expect(wireScript(transcriptOf(to, socket(there)))).toEqual(skipped(why));
    expect(wireScript(transcriptOf(socket(to), there))).toEqual(skipped(why));
  });

  test('follows a stream as an attempt of its own', () => {
    expect(wireScript(transcriptOf({}, socket({}), {}))).toMatchObject({
      attempts: [{ transport: 'sse' }, { transport: 'websocket' }, { transport: 'sse' }],
    });
  });
});
