import { parseTranscript } from '@sameriver/core';
import type { ConnectionPart } from '@sameriver/testkit';
import { transcriptJson } from '@sameriver/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
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

test.each(['fetch', 'http', 'undici', 'eventsource'] as const)(
  'whatever is played to %s gets the verdicts that the rules alone give',
  async (via) => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (parts) => {
        const transcript = parseTranscript(transcriptJson(...parts));
        const options = { via, side: 'client' } as const;
        const wire = await replayTranscript(transcript, { ...options, carriage: 'wire' });
        fc.pre(wire.kind === 'judged');
        expect(wire).toEqual(await replayTranscript(transcript, { ...options, carriage: 'pure' }));
      }),
      { numRuns: 60, maxSkipsPerRun: 1000 },
    );
  },
);
