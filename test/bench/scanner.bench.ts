// How much of a parser's time does the scanner take, and how close is it to merely finding lines?
import { createParser } from 'eventsource-parser';
import { SseScanner } from '../../packages/core/dist/sse/scanner.js';
import type { Cut, EventStream, StreamKind } from './lib/event-streams.ts';
import { eventStream, STREAM_KINDS } from './lib/event-streams.ts';
import { interleave, timed } from './lib/interleave.ts';
import { cells, finish, heading, judge, printTable } from './lib/report.ts';
import type { Spread } from './lib/spread.ts';
import { differences, ratios, spreadOf } from './lib/spread.ts';

const CUTS: readonly Cut[] = ['event', '16k', '64k', 'random'];
const SLICE = 12;
const PACE = { rounds: 15, warmup: 5 };
const findByte = Buffer.prototype.indexOf;

// Of the parser's time, one event a chunk; elsewhere the scanner shall not be slower.
const PARSER_LIMITS: Partial<Record<StreamKind, number>> = {
  '60 B': 0.36,
  '1 KiB': 0.77,
  '64 KiB': 0.38,
};
// Of a walk from line end to line end by native search.
const WALK_LIMITS: Partial<Record<StreamKind, number>> = {
  '60 B': 0.65,
  '1 KiB': 1.1,
  '64 KiB': 2.2,
};
const IDENTITY_NANOSECONDS = 100;

const rows: string[][] = [];
for (const kind of STREAM_KINDS) {
  const stream = eventStream(kind);
  for (const cut of CUTS) await measure(kind, stream, cut);
}
heading('Scanner: CPU time as a ratio, min, median, max');
const figures = (name: string): string[] => ['min', 'median', 'max'].map((f) => `${name}: ${f}`);
printTable(
  ['event', 'chunks', ...figures('/ parser'), ...figures('/ walk'), ...figures('hash, ns')],
  rows,
);
finish();

async function measure(kind: StreamKind, { events, cuts }: EventStream, cut: Cut): Promise<void> {
  const chunks = cuts[cut];
  const slices = await interleave(
    {
      walk: () => timed(() => walk(chunks), SLICE),
      parser: () => timed(() => check(events, parse(chunks)), SLICE),
      scan: () => timed(() => check(events, scan(chunks, 'none')), SLICE),
      hash: () => timed(() => check(events, scan(chunks, 'hash')), SLICE),
    },
    PACE,
  );
  const cpu = (name: keyof typeof slices): number[] =>
    slices[name].map((slice) => slice.cpu / events);
  const toParser = spreadOf(ratios(cpu('scan'), cpu('parser')));
  const toWalk = spreadOf(ratios(cpu('scan'), cpu('walk')));
  const hash = spreadOf(differences(cpu('hash'), cpu('scan')));
  rows.push([kind, cut, ...cells(toParser), ...cells(toWalk), ...cells(hash)]);
  judgeCell(kind, cut, toParser, toWalk, hash);
}

function judgeCell(
  kind: StreamKind,
  cut: Cut,
  toParser: Spread,
  toWalk: Spread,
  hash: Spread,
): void {
  const limit = cut === 'event' ? PARSER_LIMITS[kind] : undefined;
  judge('G1', `scanner / parser, ${kind}, ${cut}`, toParser, { atMost: limit ?? 1 });
  const walkLimit = WALK_LIMITS[kind];
  if (walkLimit !== undefined) {
    const atMost = kind === '1 KiB' && cut === 'random' ? 1.5 : walkLimit;
    judge('G1', `scanner / newline walk, ${kind}, ${cut}`, toWalk, { atMost });
  }
  if (kind === '60 B') {
    const unit = ' ns';
    judge('G1', `payload hash, ${kind}, ${cut}`, hash, { atMost: IDENTITY_NANOSECONDS, unit });
  }
}

function scan(chunks: readonly Uint8Array[], payload: 'none' | 'hash'): number {
  let events = 0;
  let tags = 0;
  const sink = {
    event(scanner: SseScanner) {
      events++;
      tags ^= scanner.payloadTag;
    },
  };
  const scanner = new SseScanner(sink, { payload });
  for (const chunk of chunks) scanner.push(chunk);
  return tags === -1 ? 0 : events;
}

function parse(chunks: readonly Uint8Array[]): number {
  let events = 0;
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent() {
      events++;
    },
  });
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
  return events;
}

function walk(chunks: readonly Uint8Array[]): void {
  let lines = 0;
  for (const chunk of chunks) {
    for (let at = findByte.call(chunk, 10, 0); at >= 0; at = findByte.call(chunk, 10, at + 1)) {
      lines++;
    }
  }
  check(true, lines > 0);
}

/** What was not done must not be measured. */
function check<Value>(expected: Value, actual: Value): void {
  if (expected !== actual) throw new Error(`${String(actual)} instead of ${String(expected)}`);
}
