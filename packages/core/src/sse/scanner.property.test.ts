// The scanner against two oracles: a decoder of whole streams, written from the WHATWG text and in no
// hurry, and eventsource-parser. Streams are made of what streams are made of, well and ill formed, and
// cut anywhere. A failure prints its seed and the smallest input that fails. SAMERIVER_FUZZ=20 runs
// twenty times as many cases, SAMERIVER_SEED starts them elsewhere.
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idTagOf } from '../id-tag.ts';
import { SseScanner } from './scanner.ts';
import type { SseScannerOptions } from './sink.ts';

const FACTOR = Number(process.env['SAMERIVER_FUZZ'] ?? 1);
const SEED = Number(process.env['SAMERIVER_SEED'] ?? 20_261_130);
const cases = (count: number) => ({ numRuns: count * FACTOR, seed: SEED });
const TIMEOUT = 30_000 * Math.max(1, FACTOR); // ms

/** What both oracles can tell of a block. */
interface Block {
  kind: 'event' | 'idOnly';
  /** The id of the block itself, undefined without one. */
  ownId: string | undefined;
  lastEventId: string;
  data: string;
  name: string;
}

interface Decoded {
  blocks: Block[];
  comment: string | undefined;
  retry: number | undefined;
}

// Both oracles take times that no timer can count; the scanner does not.
const waitable = (time: number): number => Math.min(time, Number.MAX_SAFE_INTEGER);

/** WHATWG HTML 9.2.6, "Interpreting an event stream", for a stream that has ended. */
function decode(text: string): Decoded {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  lines.pop(); // what no line end follows
  const blocks: Block[] = [];
  let comment: string | undefined;
  let retry: number | undefined;
  let block: Block = { kind: 'idOnly', ownId: undefined, lastEventId: '', data: '', name: '' };
  for (const line of lines) {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (line === '') {
      const lastEventId = block.ownId ?? block.lastEventId;
      const isEvent = block.data !== '';
      if (isEvent)
        blocks.push({ ...block, kind: 'event', lastEventId, data: block.data.slice(0, -1) });
      else if (block.ownId !== undefined) blocks.push({ ...block, lastEventId });
      block = { kind: 'idOnly', ownId: undefined, lastEventId, data: '', name: '' };
    } else if (line.startsWith(':')) comment ??= line.slice(1);
    else if (field === 'data') block.data += `${value}\n`;
    else if (field === 'event') block.name = value;
    else if (field === 'id' && !value.includes('\0')) block.ownId = value;
    else if (field === 'retry' && /^[0-9]+$/.test(value)) retry = waitable(Number(value));
  }
  return { blocks, comment, retry };
}

/** All that a scanner tells of a block. */
interface Seen {
  kind: 'event' | 'idOnly';
  hasId: boolean;
  lastEventId: string;
  idNumber: number;
  idLength: number;
  idTag: number;
  dataLength: number;
  payloadTag: number;
  data: string | undefined;
  name: string;
}

function scan(pieces: readonly (string | Uint8Array)[], options: SseScannerOptions) {
  const seen: Seen[] = [];
  const comments: string[] = [];
  const note = (kind: Seen['kind'], scanner: SseScanner): void => {
    const { hasId, lastEventId, idNumber, idLength, idTag } = scanner;
    const { dataLength, payloadTag, data, eventName: name } = scanner;
    const ids = { hasId, lastEventId, idNumber, idLength, idTag };
    seen.push({ kind, ...ids, dataLength, payloadTag, data, name });
  };
  const scanner = new SseScanner(
    {
      event: (told) => note('event', told),
      idOnly: (told) => note('idOnly', told),
      comment: (text) => comments.push(text),
    },
    options,
  );
  for (const piece of pieces) {
    if (typeof piece === 'string') scanner.pushString(piece);
    else {
      scanner.push(piece);
      piece.fill(0xff); // who still looks at a chunk after push sees this
    }
    // Whatever has moved the cursor was told.
    expect(scanner.lastEventId).toBe(seen.at(-1)?.lastEventId ?? '');
  }
  scanner.end();
  return { seen, comments, retry: scanner.retry };
}

const tags = new Map<string, number>();

/** The tag of this data, taken from the plainest stream that carries it. */
function tagOf(data: string): number {
  const known = tags.get(data);
  if (known !== undefined) return known;
  const stream = data.split('\n').map((line) => `data: ${line}\n`);
  const [event] = scan([Buffer.from(`${stream.join('')}\n`)], {}).seen;
  const tag = event?.payloadTag ?? 0;
  tags.set(data, tag);
  return tag;
}

const utf8Length = (text: string): number => Buffer.byteLength(text);

function expected(blocks: readonly Block[], { keep, payload }: SseScannerOptions): Seen[] {
  let anyId = false;
  return blocks.map(({ kind, ownId, lastEventId, data, name }) => {
    anyId ||= ownId !== undefined;
    const isEvent = kind === 'event';
    return {
      kind,
      hasId: ownId !== undefined,
      lastEventId,
      idNumber: /^(0|[1-9][0-9]{0,14})$/.test(lastEventId) ? Number(lastEventId) : Number.NaN,
      idLength: utf8Length(lastEventId),
      idTag: anyId ? idTagOf(lastEventId) : 0,
      dataLength: utf8Length(data),
      payloadTag: isEvent && payload !== 'none' ? tagOf(data) : 0,
      data: isEvent && keep ? data : undefined,
      name: keep ? name : '',
    };
  });
}

const TOKENS = [
  ...['\n', '\n', '\n\n', '\n\n', '\r', '\r\n', '\r\n\r\n', ' ', ':', '\t', '\u000b', '\0'],
  ...[
    'id',
    'id:',
    'id: ',
    'id:  ',
    'i',
    'idx: 3',
    ' id: 4',
    'ID: 5',
    'id\0',
    'id: 7\n',
    'id: 07\n',
  ],
  ...[
    'd',
    'dat',
    'data',
    'data:',
    'data: ',
    'data: x',
    'data\n',
    'database: 1',
    'daXa: 1\n',
    'data:\n',
  ],
  ...['event: e\n', 'event:', 'event', 'e', 'retry: 5\n', 'retry:', 'r', ': keepalive', ':ok\n'],
  ...['id: 1234567890\n', 'id: 999999999999999\n', 'id: 1234567890123456\n'],
  ...['1', '42', '999999999', '1234567890', '999999999999999', '1234567890123456', '0', '-1'],
  ...['\u00e9', '\u2713', '\ud83d\ude00', '\uFEFF', 'id: a-b/c\n', `id: ${'k'.repeat(33)}\n`],
  ...['x'.repeat(3), 'x'.repeat(40), 'y'.repeat(120), 'z'.repeat(300), '\u2713'.repeat(50)],
];

const streamOf = (tokens: readonly string[], maxLength = 20) =>
  fc.array(fc.constantFrom(...tokens), { minLength: 1, maxLength }).map((parts) => parts.join(''));

const stream = streamOf(TOKENS);
const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 200 })), {
  minLength: 1,
  maxLength: 6,
});

/** Cuts as `sizes` says, over and over. */
function cut<T extends string | Uint8Array>(whole: T, by: readonly number[]): T[] {
  const pieces: T[] = [];
  for (let at = 0, i = 0; at < whole.length; i += 1) {
    const end = at + (by[i % by.length] as number);
    pieces.push(whole.slice(at, end) as T);
    at = end;
  }
  return pieces;
}

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** The pieces of a stream, some as text and some as bytes, which are cut once more inside. */
function mix(text: string, by: readonly number[]): (string | Uint8Array)[] {
  return cut(text, by).flatMap<string | Uint8Array>((piece, i) => {
    const size = by[i % by.length] as number;
    return size % 2 === 0 ? [piece] : cut(bytesOf(piece), [size, 1, 2]);
  });
}

const WAYS = {
  bytes: (text: string, by: readonly number[]) => cut(bytesOf(text), by),
  text: cut<string>,
  'text and bytes': mix,
};

describe('the scanner and a decoder of whole streams', () => {
  for (const [way, toPieces] of Object.entries(WAYS)) {
    it(
      `S1 to S8: agree on streams cut anywhere, as ${way}`,
      () => {
        const property = fc.property(
          stream,
          sizes,
          fc.boolean(),
          fc.constantFrom('hash' as const, 'none' as const),
          (text, by, keep, payload) => {
            const pieces = toPieces(text, by);
            // Half a surrogate pair goes over the wire as U+FFFD.
            const wire = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
            const { blocks, comment, retry } = decode(wire.toString('utf8'));
            const options = { keep, payload };
            const told = scan(pieces, options);
            expect(told.seen).toEqual(expected(blocks, options));
            expect(told.comments[0]).toBe(comment);
            expect(told.retry).toBe(retry);
          },
        );
        fc.assert(property, cases(25_000));
      },
      TIMEOUT,
    );
  }

  it(
    'S1 to S8: agree on bytes that are not UTF-8',
    () => {
      const junk = [
        [0xc3],
        [0xe2, 0x9c],
        [0xff],
        [0xed, 0xa0, 0x80],
        [0xef, 0xbb],
        [0xf0, 0x9f, 0x98],
      ];
      const part = fc.oneof(
        fc.constantFrom(...TOKENS).map((token) => [...bytesOf(token)]),
        fc.constantFrom(...junk),
      );
      const property = fc.property(fc.array(part, { maxLength: 20 }), sizes, (parts, by) => {
        const bytes = Uint8Array.from(parts.flat());
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        const { blocks } = decode(text);
        const { seen } = scan(cut(bytes, by), { keep: true });
        const texts = ({ lastEventId, data, name }: Seen | Block) => ({ lastEventId, data, name });
        const wanted = blocks.map((b) => (b.kind === 'event' ? b : { ...b, data: undefined }));
        expect(seen.map(texts)).toEqual(wanted.map((block) => texts(block as Block)));
      });
      fc.assert(property, cases(10_000));
    },
    TIMEOUT,
  );
});

describe('the scanner and itself', () => {
  it(
    'S8: gives a payload one tag and one length, however its long lines are cut',
    () => {
      const long = [700, 4096, 16_384, 40_000].map((size) =>
        'abcdefgh-'.repeat(size).slice(0, size),
      );
      const tokens = ['data: ', 'data:', '\n', '\r\n', '\n\n', '\u2713', 'q', 'id: 3\n', ...long];
      const wide = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 4 });
      const property = fc.property(streamOf(tokens, 12), wide, wide, (text, by, other) => {
        const one = scan(WAYS.bytes(text, by), {});
        expect(scan(mix(text, other), {})).toEqual(one);
        expect(scan([text], {})).toEqual(one);
      });
      fc.assert(property, cases(2_000));
    },
    TIMEOUT,
  );
});

// eventsource-parser tells an event only the id of its own block: its ids do not stick, and a block
// that has nothing but an id is told by onId alone. It drops a space at the start of a comment. Its
// limits are those of memory, where the scanner has its own; no stream here comes near either.
describe('the scanner and eventsource-parser', () => {
  it(
    'S3, S4, S6: agree on what events there are and which ids they carry',
    () => {
      const property = fc.property(stream, sizes, (text, by) => {
        const events: unknown[] = [];
        const ids: string[] = [];
        const comments: string[] = [];
        let retry: number | undefined;
        const parser = createParser({
          onEvent: ({ id, event, data }) => events.push({ id, name: event ?? '', data }),
          onId: (id) => ids.push(id),
          onComment: (comment) => comments.push(comment),
          onRetry: (time) => {
            retry = waitable(time);
          },
        });
        const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
        for (const piece of cut(bytesOf(text), by))
          parser.feed(decoder.decode(piece, { stream: true }));
        const told = scan(cut(bytesOf(text), by), { keep: true });
        const ownId = ({ hasId, lastEventId }: Seen) => (hasId ? lastEventId : undefined);
        const withData = told.seen.filter(({ kind }) => kind === 'event');
        const mine = withData.map((s) => ({ id: ownId(s), name: s.name, data: s.data }));
        expect(mine).toEqual(events);
        expect(told.seen.filter((s) => s.hasId).map((s) => s.lastEventId)).toEqual(ids);
        expect(told.comments[0]?.replace(/^ /, '')).toBe(comments[0]);
        expect(told.retry).toBe(retry);
      });
      fc.assert(property, cases(25_000));
    },
    TIMEOUT,
  );
});
