import fc from 'fast-check';
import { parseDictionary } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import type { StreamReport } from './connection.ts';
import { createClientTimeline } from './timeline/client-timeline.ts';

const CURSOR = '4118';
type Headers = Readonly<Record<string, string | undefined>>;

interface Judged {
  readonly verdict: string;
  readonly reason: string;
  readonly events: number;
}

/** What a client concludes that was at 4118 in log `g`, of a body, told by its pieces. */
function judge(
  pieces: readonly string[],
  headers: Headers = {},
  opening = ': stream-continuity status=initialized, gen="g"\n\n',
): Judged {
  const reports: StreamReport[] = [];
  const timeline = createClientTimeline({
    observer: {
      settled: (_, report) => reports.push(report),
      revised() {},
      inStream() {},
      ended() {},
    },
  });
  const open = (cursor: string | undefined, answer: Headers) => {
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
    const all: Headers = { 'content-type': 'text/event-stream', ...answer };
    connection.response(200, (name) => all[name]);
    return connection;
  };
  const before = open(undefined, {});
  before.pushString(`${opening}id: ${CURSOR}\ndata: x\n\n`);
  before.end('reset');
  const connection = open(CURSOR, headers);
  for (const piece of pieces) connection.pushString(piece);
  const { verdict } = reports.at(-1) ?? {};
  return {
    verdict: verdict?.classification ?? 'none',
    reason: verdict?.reason ?? 'none',
    events: connection.events,
  };
}

const NEXT = 'id: 4119\ndata: y\n\n';
const GOOD = `status=resumed, gen="g", from="${CURSOR}"`;
const comment = (field: string): string => `: stream-continuity ${field}\n\n`;
const event = (value: unknown): string =>
  `event: stream-continuity\ndata: ${JSON.stringify(value)}\n\n`;
const GOOD_EVENT = event({ status: 'resumed', gen: 'g', from: CURSOR });

describe('the twin of Stream-Continuity in the first frame of a body, where a proxy took the header', () => {
  it.each([
    ['as a comment', [comment(GOOD) + NEXT]],
    ['as a comment, cut into pieces', [...(comment(GOOD) + NEXT)]],
    ['as an event', [GOOD_EVENT + NEXT]],
    ['as an event, cut into pieces', [...(GOOD_EVENT + NEXT)]],
    ['as both', [comment(GOOD) + GOOD_EVENT, NEXT]],
  ])('proves a resumption %s, and is no event of the application', (_, pieces) => {
    const found = { verdict: 'resumed', reason: 'cursor_echoed', events: 1 };
    expect(judge(pieces)).toEqual(found);
  });

  it('lets a first connection know its log', () => {
    const other = comment(`status=unknown, gen="h", received="${CURSOR}"`);
    expect(judge([other + NEXT])).toMatchObject({ reason: 'epoch_changed' });
    const first = event({ status: 'initialized', gen: 'g' });
    expect(judge([other + NEXT], {}, first)).toMatchObject({ reason: 'epoch_changed' });
  });

  it('says that the stream was reset, or that its window was overrun', () => {
    const reset = comment(`status=reset, gen="g", received="${CURSOR}", reason=evicted`);
    expect(judge([reset + NEXT])).toMatchObject({ reason: 'reset_signalled' });
    const overrun = event({ gen: 'g', received: CURSOR, oldest: '4200' });
    expect(judge([`${overrun}id: 4200\ndata: y\n\n`])).toMatchObject({ reason: 'window_exceeded' });
  });

  it.each([
    ['echoes the cursor of another session', comment('status=resumed, gen="g", from="4117"')],
    ['was received for another request', comment(`${GOOD}, received="4117"`)],
    ['was written for somebody without a cursor', comment('status=initialized, gen="g", dense')],
    ['names no cursor', comment('status=resumed, gen="g", oldest="1", newest="9000"')],
    ['is 10 KiB long', comment(`${GOOD}, pad="${'x'.repeat(10_240)}"`)],
    ['has a number for a cursor', comment(`status=resumed, gen="g", from=${CURSOR}`)],
    ['breaks off inside', comment(`status=resumed, gen="g", from="${CURSOR}`)],
    ['stands behind an event', `id: 4119\ndata: z\n\n${comment(GOOD)}`],
    ['stands behind an id', `id: 4119\n\n${comment(GOOD)}`],
    ['is another comment', `: ok ${GOOD}\n\n`],
    ['is not the first comment', `: ok\n\n${comment(GOOD)}`],
    ['is an event of another session', event({ status: 'resumed', gen: 'g', from: '4117' })],
    ['is an event with a number for a cursor', event({ status: 'resumed', gen: 'g', from: 4118 })],
    ['is an event that is no object', event([GOOD])],
    ['is an event that is no JSON', `event: stream-continuity\ndata: ${GOOD}\n\n`],
    ['is an event of 10 KiB', event({ gen: 'g', from: CURSOR, pad: 'x'.repeat(10_240) })],
    ['has an id', `id: 4119\n${GOOD_EVENT}`],
    ['is an event of another name', GOOD_EVENT.replace('continuity', 'continuities')],
    ['is an event behind another', `data: z\n\n${GOOD_EVENT}`],
  ])('proves nothing where it %s', (_, twin) => {
    expect(judge([twin + NEXT]).verdict).not.toBe('resumed');
  });

  it.each<[string, Headers]>([
    ['the header is there and says less', { 'stream-continuity': 'status=unknown, gen="g"' }],
    ['the header is for another request', { 'stream-continuity': 'from="1", gen="g"' }],
    ['the header cannot be read', { 'stream-continuity': '=' }],
    ['the answer has an age', { age: '37' }],
    ['a cache had the answer', { 'cache-status': 'edge; hit; ttl=30' }],
    ['an older cache had it', { 'x-cache': 'HIT from edge' }],
  ])('is not asked where %s', (_, headers) => {
    expect(judge([comment(GOOD) + NEXT], headers).verdict).toBe('unverifiable');
    expect(judge([GOOD_EVENT + NEXT], headers)).toMatchObject({
      verdict: 'unverifiable',
      events: 1,
    });
  });

  it('proves nothing unless it names the cursor, whatever is said', () => {
    const piece = fc.oneof(
      fc.constantFrom('status=resumed', 'gen="g"', `from="${CURSOR}"`, 'from="4117"', 'dense'),
      fc.constantFrom(`received="${CURSOR}"`, 'window=200', 'oldest="1"', 'newest="9000"', '"'),
      fc.string({ maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '')),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const field = pieces.join(', ');
        if (judge([comment(field) + NEXT]).verdict !== 'resumed') return;
        const members = parseDictionary(field);
        const named = members.get('received')?.[0] ?? members.get('from')?.[0];
        expect(named).toBe(CURSOR);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is refuted by the first event as the header is', () => {
    expect(judge([`${comment(GOOD)}id: 13\ndata: y\n\n`])).toMatchObject({
      reason: 'cursor_not_advanced',
    });
  });
});

describe('a Stream-Continuity header on an answer of a cache', () => {
  it.each<[string, Headers]>([
    ['with an age', { age: '1' }],
    ['that says so', { 'cache-status': 'a;fwd=miss, b;hit' }],
    ['of the older kind', { 'x-cache': 'Hit from cloudfront' }],
    ['at the edge', { 'cf-cache-status': 'HIT' }],
    ['by one that names its protocol', { 'x-cache': 'TCP_REMOTE_HIT' }],
    ['by one that asked whether it still holds', { 'cf-cache-status': 'REVALIDATED' }],
    ['by one that knows that it is old', { 'cf-cache-status': 'STALE' }],
    [
      'by one that was told that it still holds',
      { 'cache-status': 'a; fwd=stale; fwd-status=304' },
    ],
    ['by a reverse proxy', { 'x-cache-status': 'UPDATING' }],
  ])('proves nothing %s, even where it echoes the cursor', (_, headers) => {
    const all = { 'stream-continuity': GOOD, ...headers };
    expect(judge([NEXT], all)).toMatchObject({ verdict: 'unverifiable' });
  });

  it.each<[string, Headers]>([
    ['with an age of nothing, which some proxies put on everything', { age: '0' }],
    ['from a cache that had to ask', { 'cache-status': 'edge; fwd=uri-miss', 'x-cache': 'MISS' }],
    ['from a proxy that stores no such answer', { 'x-cache': 'hit-for-pass' }],
    ['from one that fetched it anew', { 'cache-status': 'a; fwd=stale; fwd-status=200' }],
    ['from one that found nothing', { 'x-cache': 'TCP_MISS', 'x-cache-status': 'BYPASS' }],
  ])('is believed %s', (_, headers) => {
    const all = { 'stream-continuity': GOOD, ...headers };
    expect(judge([NEXT], all)).toMatchObject({ verdict: 'resumed' });
  });
});

describe('tokens of two kinds', () => {
  it('are not compared: a server that begins to stamp is no other log, and proves by its echo alone', () => {
    const answers = (field: string): Headers => ({ 'stream-continuity': field });
    expect(judge([NEXT], answers(GOOD), '').reason).toBe('cursor_echoed');
    const dense = `gen="g", dense, received="${CURSOR}"`;
    expect(judge([NEXT], answers(dense), '').reason).toBe('no_epoch');
  });
});
