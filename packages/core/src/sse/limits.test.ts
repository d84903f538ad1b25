// What a scanner may take: no garbage per event, bounded memory, no hold on a chunk.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { SseScanner } from './scanner.ts';
import type { SseScannerOptions } from './sink.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

function heapUsed(): number {
  gc();
  const { heapUsed: heap, arrayBuffers } = process.memoryUsage();
  return heap + arrayBuffers;
}

describe('an endless line', () => {
  const STARTS = ['data: ', 'id: ', 'event: ', 'retry: 1', ': ', 'unknown: ', 'a'];
  for (const start of STARTS) {
    it(`that begins with ${JSON.stringify(start)} takes bounded memory`, () => {
      const chunk = new Uint8Array(65_536).fill(0x31);
      const sink = { event() {}, comment() {} };
      const scanner = new SseScanner(sink, { keep: true, maxData: 1000 });
      scanner.pushString(`id: 7\ndata: a\n\n${start}`);
      scanner.push(chunk);
      const before = heapUsed();
      for (let i = 0; i < 1000; i += 1) scanner.push(chunk);
      const text = '1'.repeat(65_536);
      for (let i = 0; i < 100; i += 1) scanner.pushString(text);
      expect(heapUsed() - before).toBeLessThan(1 << 20);
      scanner.pushString('\n\ndata: b\n\n');
      expect(scanner.lastEventId).toBe('7');
      expect(scanner.oversizedIds).toBe(start === 'id: ' ? 1 : 0);
    });
  }
});

/** Bytes of garbage per call, without what the optimiser leaves in some of the rounds. */
function garbage(calls: number, run: () => void): number {
  const rounds = Array.from({ length: 20 }, () => {
    const before = heapUsed();
    run();
    const { heapUsed: heap, arrayBuffers } = process.memoryUsage();
    return (heap + arrayBuffers - before) / calls;
  });
  return Math.min(...rounds.slice(-5).map(Math.abs));
}

describe('an event', () => {
  const IDS = { 'an integer id': '100417', 'a text id': '6ba7b810-9dad-11d1-80b4-00c04fd430c8' };
  for (const [kind, id] of Object.entries(IDS)) {
    for (const size of [40, 1000, 60_000]) {
      it(`with ${kind} and ${size} bytes of data leaves no garbage`, () => {
        const text = `id: ${id}\nevent: m\ndata: ${'x'.repeat(size)}\n\n`;
        const event = Buffer.from(text);
        const [head, tail] = [event.subarray(0, 60), event.subarray(60)];
        let events = 0;
        let tags = 0;
        const scanner = new SseScanner({
          event(told) {
            events += 1;
            tags ^= told.payloadTag ^ told.idTag;
          },
        });
        const count = size > 10_000 ? 50 : 500;
        const perCall = garbage(4 * count, () => {
          for (let i = 0; i < count; i += 1) {
            scanner.push(event);
            scanner.pushString(text);
            scanner.push(head);
            scanner.push(tail);
          }
        });
        // The native comparison of long lines leaves some until the optimiser knows it.
        expect(perCall).toBeLessThan(size > 500 ? 512 : 2);
        expect(events).toBe(20 * 3 * count);
        expect(tags).toBe(0); // an even number of equal tags
      });
    }
  }
});

describe('an open stream', () => {
  const UUID = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  it.each<[string, number, string[], SseScannerOptions]>([
    ['an integer id', 400, ['id: 100417\ndata: {"a":1}\n\n'], {}],
    ['an integer id and no payload tags', 320, ['id: 100417\ndata: a\n\n'], { payload: 'none' }],
    ['a text id', 800, [`id: ${UUID}\ndata: a\n\n`], {}],
    ['data that was cut', 550, ['id: 100417\ndata: a', 'a\n\n'], {}],
    ['an id that was cut', 550, ['id: 100', '417\ndata: a\n\n'], {}],
  ])('with %s takes at most %i bytes for its scanner', (_kind, limit, pieces, options) => {
    const sink = { event() {} };
    const chunks = pieces.map((piece) => Buffer.from(piece));
    const count = 2000;
    const open = () =>
      Array.from({ length: count }, () => {
        const scanner = new SseScanner(sink, options);
        for (const chunk of chunks) scanner.push(chunk);
        return scanner;
      });
    open(); // classes and code are paid for
    const before = heapUsed();
    const scanners = open();
    expect((heapUsed() - before) / count).toBeLessThan(limit);
    expect(scanners).toHaveLength(count);
  });
});

describe('a chunk', () => {
  it('is let go when push returns, whatever part of it is still of use', async () => {
    const scanner = new SseScanner({ event() {} }, { keep: true });
    const pieces = [
      'id: k-1\ndata: a\n\nid: k-2\n',
      'data: b\n\nid: k-',
      '3',
      '\nevent: e',
      '\ndata: x',
    ];
    const chunks = pieces.map((piece) => {
      const chunk = new Uint8Array(Buffer.from(piece));
      scanner.push(chunk);
      return new WeakRef(chunk);
    });
    await new Promise((resolve) => setImmediate(resolve));
    gc();
    expect(chunks.map((chunk) => chunk.deref())).toEqual(pieces.map(() => undefined));
    expect(scanner.lastEventId).toBe('k-2');
  });
});
