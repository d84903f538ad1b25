// The scanner borrows Buffer's methods where they are good, and must tell the same without them.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SseScanner } from './scanner.ts';

const encoder = new TextEncoder();
const STREAM = [
  '\uFEFF: hello\n',
  'id: 41\ndata: {"a":1}\n\n',
  `id: é-7\r\ndata: ${'long ✓ '.repeat(9000)}\r\n\r\n`,
  `event: e\rdata: ${'x'.repeat(300)}\rdata: y\r\r`,
  `id: ${'k'.repeat(500)}\ndata: \ud83d lone\n\n`,
].join('');

type Module = { SseScanner: typeof SseScanner };

/** The scanner, loaded afresh in the present runtime. */
async function load(): Promise<Module> {
  vi.resetModules();
  return (await import('./scanner.ts')) as Module;
}

/** All that a scanner of the present runtime tells of the stream. */
async function tell(): Promise<unknown[]> {
  const module = await load();
  const told: unknown[] = [];
  const sink = {
    event: (s: SseScanner) => {
      told.push([s.lastEventId, s.idTag, s.dataLength, s.payloadTag, s.data, s.eventName]);
    },
    comment: (text: string) => told.push(text),
  };
  const fromText = new module.SseScanner(sink, { keep: true });
  fromText.pushString(STREAM);
  const fromBytes = new module.SseScanner(sink, { keep: true });
  const bytes = encoder.encode(STREAM);
  for (let at = 0; at < bytes.length; at += 1000) fromBytes.push(bytes.subarray(at, at + 1000));
  return told;
}

class Refusing {
  static allocUnsafeSlow(size: number): Uint8Array {
    return new Uint8Array(size);
  }
  indexOf(): number {
    throw new TypeError('argument must be a Buffer');
  }
  copy(): number {
    return 0;
  }
}

class Wrong extends Refusing {
  override indexOf(): number {
    return -1;
  }
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the scanner in other runtimes', () => {
  const others = [
    { runtime: 'without Buffer', Buffer: undefined },
    { runtime: 'with a Buffer whose methods refuse plain arrays', Buffer: Refusing },
    { runtime: 'with a Buffer whose methods find nothing', Buffer: Wrong },
  ];
  for (const { runtime, Buffer } of others) {
    it(`tells the same ${runtime}`, async () => {
      const native = await tell();
      vi.stubGlobal('Buffer', Buffer);
      const other = await tell();
      vi.unstubAllGlobals();
      expect(native).toHaveLength(10);
      expect(other).toEqual(native);
    });
  }
});

describe('the native search', () => {
  it('passes over a chunk twice at most, whatever ends its lines', async () => {
    let searched = 0;
    const { Buffer } = globalThis;
    const counting = {
      allocUnsafeSlow: Buffer.allocUnsafeSlow,
      prototype: {
        copy: Buffer.prototype.copy,
        compare: Buffer.prototype.compare,
        indexOf(this: Uint8Array, value: number, from: number): number {
          const at = Buffer.prototype.indexOf.call(this, value, from);
          searched += (at < 0 ? this.length : at) - from;
          return at;
        },
      },
    };
    vi.stubGlobal('Buffer', counting);
    const { SseScanner: Scanner } = await load();
    vi.unstubAllGlobals();
    const lines = ['\n', '\r', '\r\n'].map((end) => `data: ${'x'.repeat(94)}${end}`);
    for (const line of [...lines, lines.join('')]) {
      const chunk = encoder.encode(line.repeat(500));
      searched = 0;
      new Scanner({ event() {} }).push(chunk);
      expect(searched).toBeGreaterThan(0);
      expect(searched).toBeLessThan(2 * chunk.length);
    }
  });
});
