import fc from 'fast-check';
import { parseDictionary } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import type { StreamReport } from './connection.ts';
import { createClientTimeline } from './timeline/client-timeline.ts';

const CURSOR = '4118';

/** What a client concludes that was at 4118, is answered with a field and then with event 4119. */
function judge(field: string | undefined, first: string = '4119'): string {
  const reports: StreamReport[] = [];
  const timeline = createClientTimeline({
    observer: {
      settled: (_, report) => reports.push(report),
      revised() {},
      inStream() {},
      ended() {},
    },
  });
  const open = (cursor: string | undefined, answer: string | undefined) => {
    const connection = timeline.open(
      {
        transport: 'sse',
        method: 'GET',
        origin: 'http://a.example',
        target: '/feed',
        header: (name) => (name === 'last-event-id' ? cursor : undefined),
      },
      0,
    );
    const headers = { 'content-type': 'text/event-stream', 'stream-continuity': answer };
    connection.response(200, (name) => headers[name as keyof typeof headers]);
    return connection;
  };
  const before = open(undefined, 'status=initialized, gen="g"');
  before.pushString(`id: ${CURSOR}\ndata: x\n\n`);
  before.end('reset');
  open(CURSOR, field).pushString(`id: ${first}\ndata: y\n\n`);
  return reports.at(-1)?.verdict?.classification ?? 'none';
}

const GOOD = `status=resumed, gen="g", from="${CURSOR}"`;

describe('a Stream-Continuity field, read by a client at 4118', () => {
  it.each([
    ['names the cursor that was sent', GOOD],
    ['has members of tomorrow', `${GOOD}, later=(1 2);a, inst=:AA==:`],
  ])('proves a resumption where it %s', (_, field) => {
    expect(judge(field)).toBe('resumed');
  });

  it.each([
    ['is not there', undefined],
    ['is empty', ''],
    ['echoes the cursor of another session', 'status=resumed, gen="g", from="4117"'],
    ['was received for another request', `${GOOD}, received="4117"`],
    ['comes out of a cache, from another cursor', 'status=resumed, gen="g", from="1"'],
    ['claims a resumption and names nothing', 'status=resumed'],
    ['claims it of the same log and names nothing', 'status=resumed, gen="g"'],
    ['is 10 KiB long', `${GOOD}, pad="${'x'.repeat(10_240)}"`],
    ['is a character too long', GOOD.padEnd(1025)],
    ['has a number for a cursor', `status=resumed, gen="g", from=${CURSOR}`],
    ['has a token for a cursor', 'status=resumed, gen="g", from=a4118'],
    ['has a string for its status', `status="resumed", gen="g", from="${CURSOR}"`],
    ['has a list for its epoch', `status=resumed, gen=("g"), from="${CURSOR}"`],
    ['has a text for its window', `${GOOD}, window="200"`],
    ['has a window below nothing', 'gen="g", window=-1'],
    ['has a fraction for its window', `${GOOD}, window=2.5`],
    ['is denser than a flag', `${GOOD}, dense=1`],
    ['breaks off inside', `status=resumed, gen="g", from="${CURSOR}`],
    ['ends with a comma', `${GOOD},`],
    ['has a line break inside', `status=resumed,\n gen="g", from="${CURSOR}"`],
    ['is there twice, from two servers', `${GOOD}, status=unknown, gen="h", received="${CURSOR}"`],
    ['has upper-case keys', `Status=resumed, From="${CURSOR}"`],
    ['is JSON', JSON.stringify({ status: 'resumed', from: CURSOR })],
  ])('proves nothing where it %s', (_, field) => {
    expect(judge(field)).not.toBe('resumed');
  });

  it.each([
    ['another log answers', `status=resumed, gen="h", from="${CURSOR}"`, '4119'],
    ['the stream was reset', `status=reset, gen="g", from="${CURSOR}"`, '4119'],
    ['the log ends below', `${GOOD}, newest="13"`, '4119'],
    ['what is kept begins above', `${GOOD}, oldest="4200"`, '4200'],
    ['the first event contradicts it', GOOD, '13'],
  ])('is no excuse where %s', (_, field, first) => {
    expect(judge(field, first)).toBe('reoriginated');
  });

  it('proves nothing unless it is a dictionary of RFC 9651 that names the cursor, whatever comes', () => {
    const piece = fc.oneof(
      fc.constantFrom('status=resumed', 'gen="g"', `from="${CURSOR}"`, 'from="4117"', 'dense'),
      fc.constantFrom('received="4118"', 'received=4118', 'window=-1', 'x=(', '"', ';', '=', ' '),
      fc.string({ maxLength: 12 }),
    );
    const field = fc
      .array(piece, { maxLength: 8 })
      .chain((pieces) => fc.constantFrom(', ', ',', ';', '').map((by) => pieces.join(by)));
    fc.assert(
      fc.property(field, (text) => {
        if (judge(text) !== 'resumed') return;
        // The parser that we compare with takes no date that something follows.
        fc.pre(!text.includes('@'));
        const members = parseDictionary(text);
        // R13: in one dense log the very next number is a proof by itself.
        const isDense = members.has('dense') && members.get('gen')?.[0] === 'g';
        expect(isDense || members.get('from')?.[0] === CURSOR).toBe(true);
      }),
      { numRuns: 2_000 * Number(process.env['SAMERIVER_FUZZ'] ?? 1) },
    );
  });
});
