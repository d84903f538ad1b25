import { describe, expect, it } from 'vitest';
import { SseScanner } from './scanner.ts';
import type { SseScannerOptions } from './sink.ts';

/** What a sink was told, one line a call: `event 7 "data"`, `id-only 7`, `comment "text"`. */
function follow(options: SseScannerOptions = { keep: true }) {
  const told: string[] = [];
  const scanner = new SseScanner(
    {
      event: ({ lastEventId, data, eventName }) => {
        const name = eventName === '' ? '' : ` as ${eventName}`;
        told.push(`event ${lastEventId || '-'} ${JSON.stringify(data)}${name}`);
      },
      idOnly: ({ lastEventId }) => told.push(`id-only ${lastEventId || '-'}`),
      comment: (text) => told.push(`comment ${JSON.stringify(text)}`),
    },
    options,
  );
  return { scanner, told };
}

/** The fields of each event of a stream. */
function events<T>(
  stream: string,
  read: (scanner: SseScanner) => T,
  options: SseScannerOptions = {},
): T[] {
  const out: T[] = [];
  const sink = { event: (scanner: SseScanner) => out.push(read(scanner)) };
  new SseScanner(sink, options).push(Buffer.from(stream));
  return out;
}

function told(...pieces: (string | Uint8Array)[]): string[] {
  const { scanner, told } = follow();
  for (const piece of pieces) {
    if (typeof piece === 'string') scanner.pushString(piece);
    else scanner.push(piece);
  }
  return told;
}

/** The same stream as one text, as bytes, and byte by byte. */
function everyWay(stream: string): string[][] {
  const bytes = Buffer.from(stream);
  return [told(stream), told(bytes), told(...[...bytes].map((byte) => Uint8Array.of(byte)))];
}

function expectEveryWay(stream: string, wanted: string[]): void {
  for (const way of everyWay(stream)) expect(way).toEqual(wanted);
}

describe('line ends', () => {
  it('S1: ends a line at LF, CR and CRLF in any mix', () => {
    const stream =
      'id: 1\ndata: a\n\nid: 2\rdata: b\r\rid: 3\r\ndata: c\r\n\r\nid: 4\ndata: d\r\n\r';
    expectEveryWay(stream, ['event 1 "a"', 'event 2 "b"', 'event 3 "c"', 'event 4 "d"']);
  });

  it('S1: takes a CRLF that is split between chunks for one line end', () => {
    const pieces = ['id: 1\r', '\ndata: a\r', '\n', 'data: b\r', '\n\r', '\n'];
    expect(told(...pieces)).toEqual(['event 1 "a\\nb"']);
  });

  it('S1: tells an event at the CR of its blank line, before it is known what follows', () => {
    expect(told('data: a\r\r')).toEqual(['event - "a"']);
  });

  it('S1: reads on over an empty chunk between CR and LF', () => {
    expect(told('data: a\r', '', Uint8Array.of(), '\n\r\n')).toEqual(['event - "a"']);
  });

  it('S1: does not end a line at the other control characters and separators of Unicode', () => {
    const value = 'a\u000bb\fc\td\u0085e\u2028f';
    expectEveryWay(`data: ${value}\n\n`, [`event - ${JSON.stringify(value)}`]);
  });

  it('S1: finds a lone CR far inside a long line', () => {
    const long = 'x'.repeat(5000);
    expectEveryWay(`data: ${long}\rdata: y\n\n`, [`event - "${long}\\ny"`]);
  });
});

describe('the byte order mark', () => {
  it('S2: is dropped once, at the very start', () => {
    expectEveryWay('\uFEFFid: 1\ndata: \uFEFFa\n\n', ['event 1 "\uFEFFa"']);
    expectEveryWay('\uFEFF\uFEFFdata: a\n\ndata: b\n\n', ['event - "b"']);
    expectEveryWay('data: a\n\n\uFEFFdata: b\n\ndata: c\n\n', ['event - "a"', 'event - "c"']);
  });

  it('S2: makes an unknown field of its line when it comes in part only', () => {
    const rest = Buffer.from('data: a\n\ndata: b\n\n');
    expect(told(Uint8Array.of(0xef, 0xbb), rest)).toEqual(['event - "b"']);
    expect(told(Uint8Array.of(0xef, 0xbb), '\n', rest)).toEqual(['event - "a"', 'event - "b"']);
  });
});

describe('ids', () => {
  it('S3: are ignored when they contain NUL, and leave an id before them in the block in force', () => {
    expectEveryWay('id: 1\nid: 2\0\ndata: a\n\n', ['event 1 "a"']);
    expectEveryWay('id: k-1\nid: k-\0\ndata: a\n\n', ['event k-1 "a"']);
    expectEveryWay('id: a\0b\n\n', []);
  });

  it('S3: are empty when the field has no value or no colon, which is an id of the block', () => {
    for (const line of ['id', 'id:', 'id: ']) {
      expectEveryWay(`id: 7\ndata: a\n\n${line}\ndata: b\n\n`, ['event 7 "a"', 'event - "b"']);
    }
    const [empty] = events('id\ndata\n\n', ({ hasId, idLength, idTag, idNumber }) => {
      return { hasId, idLength, hasTag: idTag > 0, idNumber };
    });
    expect(empty).toEqual({ hasId: true, idLength: 0, hasTag: true, idNumber: Number.NaN });
  });

  it('S4: stick to the stream, while hasId tells whether the block had its own', () => {
    const stream = 'data: a\n\nid: 5\ndata: b\n\ndata: c\n\n';
    const seen = events(stream, ({ hasId, idNumber, idTag }) => [hasId, idNumber, idTag > 0]);
    expect(seen).toEqual([
      [false, Number.NaN, false],
      [true, 5, true],
      [false, 5, true],
    ]);
  });

  it('S4: move the cursor at the blank line and not before, with or without data', () => {
    const { scanner, told } = follow();
    scanner.pushString('id: 6\ndata: a\n\nid: 7\n');
    expect(scanner.lastEventId).toBe('6');
    scanner.pushString('\n');
    expect(scanner.lastEventId).toBe('7');
    scanner.pushString('id: k-8\n\nid\n');
    expect(scanner.lastEventId).toBe('k-8');
    expect(told).toEqual(['event 6 "a"', 'id-only 7', 'id-only k-8']);
  });

  it('S4: are forgotten with a block that the stream does not finish', () => {
    for (const half of ['id: 8\ndata: b\n', 'id: k-8\ndata: b', 'id: 8', 'id']) {
      const { scanner, told } = follow();
      scanner.pushString(`id: k-7\ndata: a\n\n${half}`);
      scanner.end();
      scanner.pushString('\n\ndata: c\n\n');
      expect(told).toEqual(['event k-7 "a"', 'event k-7 "c"']);
    }
  });

  it('S4: of a new stream owe nothing to a line in which the old one ended', () => {
    const { scanner, told } = follow();
    scanner.pushString('id: old-');
    scanner.end();
    scanner.pushString('id: ne');
    scanner.pushString('w\ndata: a\n\n');
    expect(told).toEqual(['event new "a"']);
  });

  it('S4: are counted, not kept, beyond 4,096 bytes', () => {
    const longest = 'k'.repeat(4096);
    const stream = `id: ${longest}\ndata\n\nid: ${longest}k\ndata\n\nid: ${'1'.repeat(9000)}\n\n`;
    for (const size of [1, 1000, stream.length]) {
      const ids: string[] = [];
      const scanner = new SseScanner({ event: ({ lastEventId }) => ids.push(lastEventId) });
      for (let at = 0; at < stream.length; at += size) {
        scanner.pushString(stream.slice(at, at + size));
      }
      expect(ids).toEqual([longest, longest]);
      expect(scanner.oversizedIds).toBe(2);
    }
  });

  it('S7: are text; only canonical integers of up to 15 digits are numbers too', () => {
    const numbers = ['0', '7', '999999999', '1000000000', '2147483648', '999999999999999'];
    const texts = ['00', '07', '-1', '+1', '1.0', '1e3', ' 1', '1 ', '٣', '1000000000000000'];
    const stream = [...numbers, ...texts].map((id) => `id: ${id}\ndata\n\n`).join('');
    const seen = events(stream, ({ idNumber, lastEventId }) => [lastEventId, idNumber]);
    expect(seen).toEqual([
      ...numbers.map((id) => [id, Number(id)]),
      ...texts.map((id) => [id, Number.NaN]),
    ]);
  });

  it('S7: have one tag each, whatever came before and however they arrived', () => {
    const ids = ['', '0', '1', '999999999999999', '1000000000000000', '01', 'k', 'k-1', 'é', 'a b'];
    const once = ids.map((id) => events(`id: ${id}\ndata\n\n`, ({ idTag }) => idTag)[0]);
    const all = events(ids.map((id) => `id: ${id}\ndata\n\n`).join(''), ({ idTag }) => idTag);
    expect(all).toEqual(once);
    expect(new Set(all).size).toBe(ids.length);
  });

  it('S7: may grow and shrink from event to event without a trace of each other', () => {
    const ids = ['k', 'x'.repeat(33), '5', 'y'.repeat(200), 'z', 'w'.repeat(64), '✓'.repeat(40)];
    const stream = ids.map((id) => `id: ${id}\ndata\n\n`).join('');
    for (const size of [1, 3, 50, stream.length]) {
      const seen: string[] = [];
      const scanner = new SseScanner({ event: ({ lastEventId }) => seen.push(lastEventId) });
      for (let at = 0; at < stream.length; at += size) {
        scanner.push(Buffer.from(stream.slice(at, at + size)));
        expect(scanner.lastEventId).toBe(seen.at(-1) ?? '');
      }
      expect(seen).toEqual(ids);
    }
  });
});

describe('the other fields', () => {
  it('S5: set a reconnection time of digits only, at once', () => {
    const { scanner } = follow();
    expect(scanner.retry).toBeUndefined();
    scanner.pushString('retry: 1500\n');
    expect(scanner.retry).toBe(1500);
    scanner.pushString('retry: 1.5\nretry: -1\nretry:\nretry\nretry: 2s\nretry:  3\nRetry: 4\n');
    expect(scanner.retry).toBe(1500);
    scanner.pushString('retry:0\n');
    expect(scanner.retry).toBe(0);
    scanner.pushString(`retry: ${'9'.repeat(400)}\n`);
    expect(scanner.retry).toBe(Number.MAX_SAFE_INTEGER);
    scanner.pushString(`retry: 7\nretry: ${'0'.repeat(4096)}5\n`);
    expect(scanner.retry).toBe(7);
  });

  it('S6: lose the first space after the colon and only it', () => {
    expectEveryWay('data:  a \ndata:b\nevent:  e\nid:  9\n\n', ['event  9 " a \\nb" as  e']);
    expectEveryWay('data: \ta\n\n', ['event - "\\ta"']);
  });

  it('S6: are known by their exact names', () => {
    const lines = [
      'Data: x',
      'DATA: x',
      ' data: x',
      'data : x',
      'dat: x',
      'dataa: x',
      'daXa: x',
      'i: x',
    ];
    expectEveryWay(`${lines.join('\n')}\nidx: 3\nevents: e\ndata: y\n\n`, ['event - "y"']);
  });

  it('S6: name the event of their own block only', () => {
    const stream =
      'event: a\ndata: 1\n\ndata: 2\n\nevent: b\nevent\ndata: 3\n\nevent: c\n\ndata: 4\n\n';
    expectEveryWay(stream, ['event - "1" as a', 'event - "2"', 'event - "3"', 'event - "4"']);
    const longest = 'n'.repeat(4096);
    const names = events(
      `event: ${longest}\ndata\n\nevent: ${longest}n\ndata\n\n`,
      ({ eventName }) => eventName,
      { keep: true },
    );
    expect(names).toEqual([longest, '']);
  });

  it('S6: give the first comment line without its colon, and no later one', () => {
    expectEveryWay(': stream-continuity epoch=7\n:second\n\ndata: a\n\n', [
      'comment " stream-continuity epoch=7"',
      'event - "a"',
    ]);
    expectEveryWay(':\n', ['comment ""']);
    const { scanner, told } = follow();
    scanner.pushString(`:${'✓'.repeat(2000)}`);
    scanner.pushString(`${'✓'.repeat(2000)}\n`);
    expect(told).toEqual([`comment ${JSON.stringify('✓'.repeat(2048))}`]);
  });
});

describe('data', () => {
  it('S4: is told once per block that has a data line, were it an empty one', () => {
    const lengths = events('data\n\ndata:\n\ndata:\ndata:\n\nid: 1\n\n\n', (s) => s.dataLength);
    expect(lengths).toEqual([0, 0, 1]);
  });

  it('S8: is counted in bytes of UTF-8, lines joined by LF', () => {
    const lengths = events('data: é✓\r\ndata: 😀\r\n\r\ndata: ab\n\n', (s) => s.dataLength);
    expect(lengths).toEqual([10, 2]);
  });

  it('S8: has a tag that differs for different data', () => {
    const payloads = [
      '',
      '\n',
      'a',
      'b',
      'ab',
      'a\nb',
      'a\n',
      '\na',
      'a\0',
      'a\0\0',
      '\0a',
      'aaaa',
    ];
    const long = [255, 256, 257, 16_383, 16_384, 16_385, 40_000].map((size) => 'q'.repeat(size));
    const all = [...payloads, ...long, ...long.map((text) => `${text.slice(1)}r`)];
    const stream = all.map((text) => `data: ${text.replaceAll('\n', '\ndata: ')}\n\n`).join('');
    const tags = events(stream, ({ payloadTag }) => payloadTag);
    expect(new Set(tags).size).toBe(all.length);
    for (const tag of tags) expect(tag > 0 && tag < 2 ** 31 && Number.isInteger(tag)).toBe(true);
  });

  it('S8: has few equal tags by chance among many alike payloads', () => {
    const seen = new Set<number>();
    const scanner = new SseScanner({ event: ({ payloadTag }) => seen.add(payloadTag) });
    const count = 200_000;
    for (let i = 0; i < count; i += 1) {
      scanner.pushString(`data: {"seq":${i},"ts":${1_790_000_000 + (i % 977)},"ok":true}\n\n`);
    }
    // Chance alone makes count^2 / 2^32 = 9.3 pairs equal.
    expect(count - seen.size).toBeLessThan(30);
  });

  it('S8: has different tags for payloads that differ in the highest byte of two words', () => {
    const seen = new Set<number>();
    const scanner = new SseScanner({ event: ({ payloadTag }) => seen.add(payloadTag) });
    const letters = Array.from({ length: 90 }, (_, i) => String.fromCharCode(0x21 + i));
    for (const a of letters) {
      for (const b of letters) scanner.pushString(`data: xxx${a}twelve bytesxxx${b}\n\n`);
    }
    expect(seen.size).toBe(90 * 90);
  });

  it('S8: has no tag when payloads are not asked for, and none outside an event', () => {
    expect(events('data: a\n\n', (s) => s.payloadTag, { payload: 'none' })).toEqual([0]);
    const { scanner } = follow();
    scanner.pushString('data: a\n\nid: 1\n');
    expect([scanner.payloadTag, scanner.dataLength, scanner.data]).toEqual([0, 0, undefined]);
  });

  it('S8: is kept as text only on demand, up to maxData UTF-16 units', () => {
    expect(events('data: a\n\n', ({ data, eventName }) => [data, eventName])).toEqual([
      [undefined, ''],
    ]);
    const sizes = [4, 5, 6, 16, 5];
    for (const character of ['x', 'é', '✓']) {
      const stream = sizes.map((size) => `data: ${character.repeat(size)}\n\n`).join('');
      const kept = events(stream, ({ data }) => data?.length, { keep: true, maxData: 5 });
      expect(kept).toEqual([4, 5, undefined, undefined, 5]);
    }
  });

  it('S8: is kept in full at the default limit', () => {
    const fits = '✓'.repeat(65_536);
    const kept = events(`data: ${fits}\n\ndata: ${fits}✓\n\n`, ({ data }) => data, { keep: true });
    expect(kept[0] === fits).toBe(true);
    expect(kept[1]).toBeUndefined();
  });
});

describe('setKeep', () => {
  it('counts from the next event when a sink calls it', () => {
    const seen: unknown[] = [];
    const scanner = new SseScanner({
      event(told) {
        seen.push(told.data);
        told.setKeep(seen.length % 3 !== 0);
      },
    });
    scanner.pushString([0, 1, 2, 3, 4, 5].map((i) => `data: ${i}\n\n`).join(''));
    expect(seen).toEqual([undefined, '1', '2', undefined, '4', '5']);
  });

  it('counts at once between blocks, else from the next block', () => {
    const halves = [
      '',
      'data: ',
      'data: a\n',
      'id: 1\n',
      'event: e\n',
      ': c\n',
      'x: y\n',
      'd',
      '\uFEFF',
    ];
    const seen = halves.map((half) => {
      const data: (string | undefined)[] = [];
      const scanner = new SseScanner({ event: (told) => data.push(told.data) });
      scanner.pushString(half);
      scanner.setKeep(true);
      scanner.pushString(half === 'd' ? 'ata: b\n\ndata: c\n\n' : 'data: b\n\ndata: c\n\n');
      return data;
    });
    const atOnce = ['b', 'c'];
    const later = [undefined, 'c'];
    expect(seen).toEqual([atOnce, later, later, later, later, later, later, later, atOnce]);
  });

  it('stops keeping at once between blocks', () => {
    const { scanner, told } = follow();
    scanner.pushString('event: e\ndata: a\n\n');
    scanner.setKeep(false);
    scanner.pushString('event: e\ndata: b\n\n');
    expect(told).toEqual(['event - "a" as e', 'event - undefined']);
  });
});

describe('text', () => {
  it('is cut into pieces between characters when it is long', () => {
    for (const shift of [0, 1]) {
      const data = 'x'.repeat(shift) + '😀'.repeat(70_000);
      const [length] = events(`data: ${data}\n\n`, ({ dataLength }) => dataLength);
      let fromText = 0;
      new SseScanner(
        {
          event: ({ dataLength, data: kept }) => {
            fromText = dataLength;
            expect(kept === data).toBe(true);
          },
        },
        { keep: true, maxData: 200_000 },
      ).pushString(`data: ${data}\n\n`);
      expect(fromText).toBe(length);
    }
  });

  it('that a sink makes another scanner read does not disturb the one being read', () => {
    const inner: string[] = [];
    const other = new SseScanner({ event: ({ lastEventId }) => inner.push(lastEventId) });
    const outer: string[] = [];
    const scanner = new SseScanner({
      event: ({ lastEventId }) => {
        outer.push(lastEventId);
        other.pushString(`id: in-${lastEventId}\ndata: ${'z'.repeat(100)}\n\n`);
      },
    });
    scanner.pushString('id: a\ndata: 1\n\nid: b\ndata: 2\n\nid: c\ndata: 3\n\n');
    expect(outer).toEqual(['a', 'b', 'c']);
    expect(inner).toEqual(['in-a', 'in-b', 'in-c']);
  });

  it('goes on after a sink has thrown in another scanner', () => {
    const broken = new SseScanner({
      event() {
        throw new Error('the sink failed');
      },
    });
    expect(() => broken.pushString('data: a\n\n')).toThrow('the sink failed');
    expectEveryWay('id: 1\ndata: a\n\n', ['event 1 "a"']);
  });
});
