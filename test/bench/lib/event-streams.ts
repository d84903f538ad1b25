import { randomNumbers } from './interleave.ts';

/** One stream of events, cut into chunks in several ways. */
export interface EventStream {
  readonly events: number;
  readonly cuts: Readonly<Record<Cut, readonly Uint8Array[]>>;
}

export type Cut = 'event' | '16k' | '64k' | 'random';
export type StreamKind = '60 B' | '60 B, CRLF' | '1 KiB' | '64 KiB' | '8 lines of 40 B';

const BYTES = 1 << 20;
const random = randomNumbers(7);

const makers: Readonly<Record<StreamKind, (id: number) => string>> = {
  '60 B': (id) => `id: ${id}\ndata: {"type":"delta","text":"${word(11)}"}\n\n`,
  '60 B, CRLF': (id) => `id: ${id}\r\ndata: {"type":"delta","text":"${word(11)}"}\r\n\r\n`,
  '1 KiB': (id) => `id: ${id}\nevent: message\ndata: {"jsonrpc":"2.0","params":"${word(940)}"}\n\n`,
  '64 KiB': (id) => `id: ${id}\ndata: {"jsonrpc":"2.0","result":"${word(65_400)}"}\n\n`,
  '8 lines of 40 B': (id) => `id: ${id}\n${`data: ${word(34)}\n`.repeat(8)}\n`,
};

export const STREAM_KINDS: readonly StreamKind[] = Object.keys(makers) as StreamKind[];

export function eventStream(kind: StreamKind): EventStream {
  const events: Uint8Array[] = [];
  const make = makers[kind];
  for (let bytes = 0; bytes < BYTES; bytes += events.at(-1)?.length ?? 0) {
    events.push(Buffer.from(make(100_000 + events.length)));
  }
  const all = Buffer.concat(events);
  return {
    events: events.length,
    cuts: {
      event: events.map(ownMemory),
      '16k': cut(all, () => 16_384),
      '64k': cut(all, () => 65_536),
      random: cut(all, () => 1 + Math.floor(random() * random() * 4096)),
    },
  };
}

/** One event of about `size` bytes. */
export function smallEvent(id: number, size: number): string {
  return `id: ${id}\ndata: {"n":${id},"t":"${'x'.repeat(Math.max(0, size - 42))}"}\n\n`;
}

function cut(all: Uint8Array, size: () => number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < all.length; ) {
    const next = at + size();
    chunks.push(ownMemory(all.subarray(at, next)));
    at = next;
  }
  return chunks;
}

/** As fetch yields them: plain, each with a buffer of its own. */
function ownMemory(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}

function word(length: number): string {
  let text = '';
  while (text.length < length) text += Math.floor(random() * 36).toString(36);
  return text;
}
