import type { Profile, Transcript } from '@sameriver/core';
import { parseTranscript } from '@sameriver/core';
import type { ConnectionPart } from '@sameriver/testkit';
import { transcriptJson } from '@sameriver/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ClientName } from './clients/client.ts';
import { replayTranscript } from './replay-transcript.ts';

const ids = ['', '1', '2', '5', '13', '4118', '90071992547409931', 'a', 'b', 'e1-4', 'e2-5', 'é'];
const id = fc.constantFrom(...ids);
const data = fc.constantFrom('', 'x', 'y', '{"key":1}', 'z\nq');

// Half lines, lone CRs, a late byte order mark and NULs: framing must hold on both ways.
const raw = fc.constantFrom(
  'id: 7\r',
  '\ndata: q\r\n\r\n',
  'data: half',
  '\n\n',
  '\r\r',
  '\uFEFFid: 1\n',
  'id: a\0b\ndata: z\n\n',
);

const frame = fc.oneof(
  fc.record({ id, data }),
  fc.record({ data }),
  fc.record({ id }),
  fc.record({ event: fc.constantFrom('e', 'control', 'reset', 'error'), id, data }),
  fc.record({ raw }),
  fc.constant({ comment: 'ping' }),
  fc.constant({ retry: 5 }),
);

const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'POST'),
  path: fc.constantFrom('/a', '/a', '/b', '/a?since=3'),
  headers: fc.record(
    {
      accept: fc.constant('text/event-stream'),
      'last-event-id': id,
      'mcp-session-id': fc.constant('s1'),
    },
    { requiredKeys: ['accept'] },
  ),
});

const response = fc.record({
  status: fc.constantFrom(200, 200, 200, 200, 204, 302, 307, 403, 404, 409, 410, 500, 503),
  headers: fc.record(
    {
      'content-type': fc.constantFrom(
        'text/event-stream',
        'text/event-stream;charset=utf-8',
        'a/b',
      ),
      'last-event-id': id,
      location: fc.constantFrom('/a', '/b', '/a?since=3'),
      'stream-continuity': fc.constantFrom(
        'gen="g1", oldest="1", window=200',
        'gen="g1", from="5"',
        'gen="g2"',
        'status=reset',
      ),
    },
    { requiredKeys: ['content-type'] },
  ),
});

const part: fc.Arbitrary<ConnectionPart> = fc.record({
  request,
  response,
  frames: fc.array(frame, { maxLength: 5 }),
  ends: fc.constantFrom('eof', 'reset', 'reset', 'open'),
});

const message = fc.oneof(
  fc.record({ recv: fc.constantFrom('', 'x', 'é\u2028', '{"type":"ready"}', '{"reset":true}') }),
  fc.integer({ min: 1, max: 9 }).map((n) => ({ recv: `{"id":${n},"key":"k${n % 4}"}` })),
  fc.constantFrom({ sent: '{"subscribe":{"from":3}}' }, { sent: 'ping' }, { recvBase64: 'AP8=' }),
);

const socketPart: fc.Arbitrary<ConnectionPart> = fc.record({
  transport: fc.constant('websocket' as const),
  request: fc.record({
    path: fc.constantFrom('/a', '/a', '/a?since=3', '/b'),
    headers: fc.record(
      { upgrade: fc.constant('websocket'), 'last-event-id': fc.constantFrom('1', '5', '13') },
      { requiredKeys: ['upgrade'] },
    ),
  }),
  response: fc.record({
    status: fc.constantFrom(101, 101, 101, 101, 101, 204, 302, 401, 404, 409, 410, 503),
    headers: fc.record(
      {
        upgrade: fc.constant('websocket'),
        location: fc.constantFrom('/a', '/b'),
        'x-epoch': fc.constantFrom('g1', 'g2'),
        'stream-continuity': fc.constantFrom('gen="g1", from="5"', 'status=reset'),
      },
      { requiredKeys: ['upgrade'] },
    ),
  }),
  frames: fc.array(message, { maxLength: 5 }),
  ends: fc.constantFrom(
    'eof',
    'reset',
    'open',
    'close:1000',
    'close:1005',
    'close:1006',
    'close:4009',
  ),
});

/** One log for a stream and for the WebSocket that may continue it (M1). */
const profiles: readonly Profile[] = [
  {
    name: 'one-log',
    match: { path: '^/a' },
    key: '^(/a)',
    messages: 'json',
    cursor: {
      sent: ['req-header:last-event-id', 'query:since', 'sent-json:/subscribe/from'],
      received: ['sse:id', 'json:/id'],
      codec: 'int',
      dense: true,
    },
    epoch: { received: ['header:x-epoch'] },
    control: [{ 'json:/type': 'ready' }],
    reset: [{ 'json:/reset': true }, { 'sse:event': 'reset' }],
    refused: [{ close: [4009] }],
    identity: ['json:/key'],
  },
];

async function agree(via: ClientName, transcript: Transcript): Promise<void> {
  const options = { via, side: 'client' } as const;
  const wire = await replayTranscript(transcript, { ...options, carriage: 'wire' });
  fc.pre(wire.kind === 'judged');
  expect(wire).toEqual(await replayTranscript(transcript, { ...options, carriage: 'pure' }));
}

const RUNS = { numRuns: 60, maxSkipsPerRun: 1000 };

test.each(['fetch', 'http', 'undici', 'eventsource'] as const)(
  'whatever is played to %s gets the verdicts that the rules alone give',
  async (via) => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (parts) => {
        await agree(via, parseTranscript(transcriptJson(...parts)));
      }),
      RUNS,
    );
  },
);

test('an event that calls itself error does not end the connection of an EventSource', async () => {
  const asked = { method: 'GET', path: '/a', headers: { accept: 'text/event-stream' } } as const;
  const answer = { status: 200, headers: { 'content-type': 'text/event-stream' } } as const;
  const frames = [{ event: 'error', data: '' }];
  const once = { request: asked, response: answer, frames, ends: 'eof' } as const;
  await agree('eventsource', parseTranscript(transcriptJson(once, { ...once, frames: [] })));
});

test.each(['ws', 'global', 'undici'] as const)(
  'so does whatever is said over WebSockets of %s, with streams before and after them',
  async (via) => {
    const parts = fc.array(fc.oneof({ weight: 2, arbitrary: socketPart }, part), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(parts, fc.boolean(), async (given, described) => {
        const json = transcriptJson(...given);
        const options = described ? { profiles } : {};
        await agree(via, parseTranscript({ ...json, options }));
      }),
      RUNS,
    );
  },
);
