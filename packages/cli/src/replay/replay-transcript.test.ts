import type { Transcript } from '@sameriver/core';
import { parseTranscript } from '@sameriver/core';
import type { ConnectionPart } from '@sameriver/testkit';
import { incidents, transcriptJson } from '@sameriver/testkit';
import { describe, expect, test } from 'vitest';
import type { ClientName } from './clients/client.ts';
import { differences } from './expectation.ts';
import type { Replayed } from './replay-transcript.ts';
import { replayTranscript } from './replay-transcript.ts';

const transcriptOf = (...parts: ConnectionPart[]): Transcript =>
  parseTranscript(transcriptJson(...parts));

const all = incidents().map(({ json }) => parseTranscript(json));
const named = (transcripts: readonly Transcript[]) =>
  transcripts.map((transcript) => [transcript.name, transcript] as const);

const pure = (transcript: Transcript): Promise<Replayed> =>
  replayTranscript(transcript, { carriage: 'pure', via: 'fetch', side: 'client' });
const wire = (transcript: Transcript, via: ClientName): Promise<Replayed> =>
  replayTranscript(transcript, { carriage: 'wire', via, side: 'client' });
const atTheServer = (transcript: Transcript): Promise<Replayed> =>
  replayTranscript(transcript, { carriage: 'wire', via: 'fetch', side: 'server' });

test.each(named(all))('the rules alone judge %s as expected', async (_name, transcript) => {
  const replayed = await pure(transcript);
  expect(replayed.kind).toBe('judged');
  expect(transcript.expect).toBeDefined();
  const reconnects = replayed.kind === 'judged' ? replayed.reconnects : [];
  expect(differences(transcript.expect ?? [], reconnects)).toEqual([]);
});

const EVERY_CLIENT: readonly ClientName[] = [
  'fetch',
  'http',
  'undici',
  'eventsource',
  'ws',
  'global',
];

describe.each(EVERY_CLIENT)('over the wire, %s', (via) => {
  test.each(named(all))('judges %s as the rules alone do', async (_name, transcript) => {
    const replayed = await wire(transcript, via);
    if (replayed.kind === 'skipped') expect(via).toBe('eventsource');
    else expect(replayed).toEqual(await pure(transcript));
  });

  test.each<[string, Transcript]>([
    [
      'R16: comments until the decision timeout, on a connection that stays open',
      transcriptOf(
        { frames: [{ id: '5', data: 'x' }], ends: 'reset' },
        {
          request: { headers: { 'last-event-id': '5' } },
          frames: [{ comment: 'ping' }, { comment: 'ping' }],
          ends: 'open',
        },
      ),
    ],
    [
      'L5: two connections open at once under one key',
      transcriptOf(
        { frames: [{ id: '5', data: 'x' }], ends: 'open' },
        { frames: [{ id: '5', data: 'x' }], ends: 'open' },
        { frames: [{ id: '6', data: 'y' }], ends: 'eof' },
      ),
    ],
    [
      'R1: a redirect that nobody follows',
      transcriptOf(
        { frames: [{ id: '5', data: 'x' }], ends: 'reset' },
        { response: { status: 302, headers: { location: 'https://elsewhere.invalid/login' } } },
      ),
    ],
    [
      'S4: an event cut in half is not delivered',
      transcriptOf(
        { frames: [{ id: '5', data: 'x' }, { raw: 'id: 6\ndata: half' }], ends: 'reset' },
        { request: { headers: { 'last-event-id': '5' } }, frames: [{ id: '6', data: 'whole' }] },
      ),
    ],
    [
      'S7: ids beyond 2^53, which a double cannot tell apart',
      transcriptOf(
        { frames: [{ id: '90071992547409931', data: 'x' }], ends: 'reset' },
        {
          request: { headers: { 'last-event-id': '90071992547409931' } },
          frames: [{ id: '90071992547409930', data: 'y' }],
        },
      ),
    ],
  ])('agrees with the rules alone on %s', async (_title, transcript) => {
    expect(await wire(transcript, via)).toEqual(await pure(transcript));
  });
});

describe('L6: a redirect is one attempt, judged under its last hop', () => {
  const redirected = transcriptOf(
    { frames: [{ id: '5', data: 'x' }], ends: 'reset' },
    {
      request: { headers: { 'last-event-id': '5' } },
      response: { status: 307, headers: { location: '/elsewhere' } },
    },
    {
      request: { path: '/elsewhere', headers: { 'last-event-id': '5' } },
      frames: [{ id: '3', data: 'y' }],
      ends: 'open',
    },
  );

  test.each(['fetch', 'undici', 'eventsource'] as const)('by %s', async (via) => {
    const replayed = await wire(redirected, via);
    expect(replayed).toMatchObject({
      reconnects: [
        { connection: 2, classification: 'reoriginated', reason: 'cursor_not_advanced' },
      ],
    });
    expect(replayed).toEqual(await pure(redirected));
  });
});

test('an attempt that is never answered keeps its place among the others', async () => {
  const cursor = { request: { headers: { 'last-event-id': '5' } } };
  const transcript = transcriptOf(
    { frames: [{ id: '5', data: 'x' }], ends: 'reset' },
    { ...cursor, frames: [{ id: '4', data: 'y' }], ends: 'reset' },
  );
  const [first, second] = transcript.connections;
  const unanswered = (ends: 'open' | 'reset' | 'eof'): Transcript => ({
    ...transcript,
    connections: [first!, { ...second!, response: undefined, frames: [], ends }, second!],
  });
  for (const ends of ['open', 'reset', 'eof'] as const) {
    expect(await wire(unanswered(ends), 'fetch')).toEqual(await pure(unanswered(ends)));
  }
});

test('transcripts are judged apart: what one has shown, the next does not know', async () => {
  const resumed = transcriptOf({
    request: { headers: { 'last-event-id': '5' } },
    frames: [{ id: '6', data: 'x' }],
  });
  const before = await wire(resumed, 'fetch');
  await wire(transcriptOf({ frames: [{ id: '6', data: 'other' }], ends: 'reset' }), 'fetch');
  expect(await wire(resumed, 'fetch')).toEqual(before);
});

test('a WebSocket that is never answered keeps its place among the others', async () => {
  const socket = (...frames: readonly Record<string, unknown>[]): ConnectionPart => ({
    transport: 'websocket',
    frames,
    ends: 'close:1006',
  });
  const transcript = transcriptOf(socket({ recv: 'a' }), socket({ recv: 'b' }));
  const [first, second] = transcript.connections;
  for (const ends of ['open', 'reset', 'eof'] as const) {
    const attempt = { ...first!, response: undefined, frames: [], ends };
    const unanswered = { ...transcript, connections: [first!, attempt, second!] };
    for (const via of ['ws', 'global', 'undici'] as const) {
      expect(await wire(unanswered, via)).toEqual(await pure(unanswered));
    }
  }
});

describe('a WebSocket', () => {
  const socket = (part: ConnectionPart): ConnectionPart => ({ transport: 'websocket', ...part });

  test.each<[ClientName, ConnectionPart, RegExp]>([
    [
      'global',
      { request: { headers: { 'x-since': '4' } } },
      /^the global WebSocket sends no header of an application, and no x-since$/,
    ],
    [
      'ws',
      { response: { headers: { 'sec-websocket-protocol': 'v1' } } },
      /^ws opens no WebSocket on this answer: Server sent a subprotocol but none was requested$/,
    ],
    [
      'global',
      { response: { headers: { 'sec-websocket-protocol': 'v1' } } },
      /^global opens no WebSocket on this answer/,
    ],
    [
      'undici',
      { response: { headers: { 'sec-websocket-protocol': 'v1' } } },
      /^undici opens no WebSocket on this answer/,
    ],
    [
      'ws',
      { request: { headers: { 'sec-websocket-protocol': 'v1, v1' } } },
      /^ws cannot play this: .*subprotocol/,
    ],
    [
      'global',
      { request: { headers: { 'sec-websocket-protocol': 'v1, v1' } } },
      /^global cannot play this: .*[Ii]nvalid/,
    ],
    [
      'undici',
      { request: { headers: { 'sec-websocket-protocol': 'v1, v1' } } },
      /^undici cannot play this: .*[Ii]nvalid/,
    ],
    ['ws', { request: { path: '/a/../b' } }, /^the client sends GET \/b, not GET \/a\/\.\.\/b$/],
  ])('that %s cannot play is skipped: %j', async (via, part, why) => {
    expect(await wire(transcriptOf(socket(part)), via)).toEqual({
      kind: 'skipped',
      why: expect.stringMatching(why),
    });
  });

  test('is opened with the headers of the transcript by ws and by undici', async () => {
    const cursor = { request: { headers: { 'last-event-id': '5' } } };
    const transcript = transcriptOf(
      { frames: [{ id: '5', data: 'x' }], ends: 'reset' },
      socket({ ...cursor, frames: [{ recv: 'y' }], ends: 'open' }),
    );
    for (const via of ['ws', 'undici'] as const) {
      const replayed = await wire(transcript, via);
      expect(replayed).toMatchObject({ reconnects: [{ connection: 1 }] });
      expect(replayed).toEqual(await pure(transcript));
    }
  });

  test('L6: whose handshake is redirected is one attempt, where the client follows', async () => {
    const transcript = transcriptOf(
      socket({ frames: [{ recv: 'a' }], ends: 'close:1006' }),
      socket({ response: { status: 302, headers: { location: 'wss://elsewhere.invalid/b' } } }),
      socket({ request: { path: '/b' }, frames: [{ recv: 'b' }], ends: 'open' }),
    );
    const replayed = await wire(transcript, 'ws');
    expect(replayed).toMatchObject({ reconnects: [{ connection: 2 }] });
    expect(replayed).toEqual(await pure(transcript));
    for (const via of ['global', 'undici'] as const) {
      expect(await wire(transcript, via)).toMatchObject({ kind: 'skipped' });
    }
  });

  test('whose redirect leads nowhere in the transcript was refused', async () => {
    const transcript = transcriptOf(
      socket({ frames: [{ recv: 'a' }], ends: 'close:1006' }),
      socket({ response: { status: 302, headers: { location: 'wss://elsewhere.invalid/b' } } }),
    );
    for (const via of ['ws', 'global', 'undici'] as const) {
      const replayed = await wire(transcript, via);
      expect(replayed).toMatchObject({ reconnects: [{ connection: 1, reason: 'http_other' }] });
      expect(replayed).toEqual(await pure(transcript));
    }
  });

  test('that a library asks for once more after a 401 has one verdict all the same', async () => {
    const transcript = transcriptOf(
      socket({ frames: [{ recv: 'a' }], ends: 'close:1006' }),
      socket({ response: { status: 401, headers: {}, body: { error: 'who are you' } } }),
    );
    for (const via of ['ws', 'global', 'undici'] as const) {
      expect(await wire(transcript, via)).toEqual(await pure(transcript));
    }
  });
});

describe('--side server judges by what this process has written', () => {
  const events = (...ids: number[]) => ids.map((id) => ({ id: String(id), data: `event ${id}` }));
  const from = (cursor: number) => ({ request: { headers: { 'last-event-id': String(cursor) } } });
  const written = { frames: events(1, 2, 3, 4, 5), ends: 'reset' };

  test.each<[string, ConnectionPart, object]>([
    [
      'V1: the answer refuses',
      { ...from(3), response: { status: 410 } },
      { classification: 'refused', reason: 'stream_gone' },
    ],
    [
      'V5: events written after the cursor are skipped, and it knows how many',
      { ...from(2), frames: events(5, 6), ends: 'open' },
      { classification: 'reoriginated', reason: 'window_exceeded', missed: 2 },
    ],
    [
      'V8: the replay starts right after the cursor',
      { ...from(3), frames: events(4, 5, 6), ends: 'open' },
      { classification: 'resumed', reason: 'replay_observed', missed: 0 },
    ],
    [
      'V9: nothing is written until the decision timeout',
      { ...from(3), frames: [{ comment: 'ping' }], ends: 'open' },
      { classification: 'unverifiable', reason: 'no_events' },
    ],
  ])('%s', async (_title, resumed, verdict) => {
    expect(await atTheServer(transcriptOf(written, resumed))).toMatchObject({
      reconnects: [{ connection: 1, ...verdict }],
    });
  });

  describe('over WebSockets', () => {
    const profiles = [
      {
        name: 'numbered',
        match: { path: '^/feed' },
        messages: 'json',
        cursor: { sent: ['query:since'], received: ['json:/id'], codec: 'int' },
      },
    ];
    const said = (...ids: number[]) => ids.map((id) => ({ recv: `{"id":${id}}` }));
    const resumed = (...ids: number[]): ConnectionPart => ({
      transport: 'websocket',
      request: { path: '/feed?since=3' },
      frames: said(...ids),
      ends: 'open',
    });
    const log: ConnectionPart = {
      transport: 'websocket',
      frames: said(1, 2, 3, 4, 5),
      ends: 'close:1006',
    };

    test.each<[string, ConnectionPart, object]>([
      [
        'V1: the handshake is refused',
        { ...resumed(), response: { status: 409, headers: {} } },
        { classification: 'refused', reason: 'cursor_conflict' },
      ],
      [
        'V5: messages sent after the cursor are skipped',
        resumed(6),
        { classification: 'reoriginated', reason: 'window_exceeded', missed: 2 },
      ],
      [
        'V8: the replay starts right after the cursor',
        resumed(4, 5, 6),
        { classification: 'resumed', reason: 'replay_observed', missed: 0 },
      ],
    ])('%s', async (_title, answer, verdict) => {
      const transcript = parseTranscript({ ...transcriptJson(log, answer), options: { profiles } });
      for (const via of ['ws', 'global', 'undici'] as const) {
        const options = { carriage: 'wire', via, side: 'server' } as const;
        expect(await replayTranscript(transcript, options)).toMatchObject({
          reconnects: [{ connection: 1, ...verdict }],
        });
      }
    });

    test('M4: what a stream loses on its way to a WebSocket is counted exactly', async () => {
      const lossy = all.find(({ name }) => name === 'seed-migration-cursor-carried-first-frame-14');
      expect(await atTheServer(lossy!)).toMatchObject({
        reconnects: [{ connection: 1, missed: 3 }],
      });
    });
  });
});
