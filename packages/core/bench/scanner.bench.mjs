// The scanner beside eventsource-parser and a bare walk from line feed to line feed, on the built
// package: node packages/core/bench/scanner.bench.mjs [rounds=9] [ms a slice=8] [filter]
// Figures are CPU time in short slices that take turns in random order; a ratio is taken inside one
// round, and its median over the rounds is shown, so that other load on the machine matters little.
import { createParser } from 'eventsource-parser';
import { SseScanner } from '../dist/sse/scanner.js';

const [rounds = 9, sliceMs = 8] = process.argv.slice(2, 4).map(Number);
const filter = process.argv[4] ?? '';
const WARM_UP = 3; // rounds
const BYTES = 1 << 20; // of one stream

let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};
const word = (length) => {
  let text = '';
  while (text.length < length) text += Math.floor(random() * 36).toString(36);
  return text.slice(0, length);
};

const KINDS = {
  '60 B': (id) => `id: ${id}\ndata: {"type":"delta","text":"${word(11)}"}\n\n`,
  '60 B, CRLF': (id) => `id: ${id}\r\ndata: {"type":"delta","text":"${word(11)}"}\r\n\r\n`,
  '60 B, text id': (id) => `id: 6ba7b810-9dad-11d1-80b4-000000${id}\ndata: ${word(11)}\n\n`,
  '1 KiB': (id) => `id: ${id}\nevent: message\ndata: {"params":"${word(960)}"}\n\n`,
  '64 KiB': (id) => `id: ${id}\ndata: {"result":"${word(65_400)}"}\n\n`,
};

const CUTS = {
  event: (events) => events.map((event) => Uint8Array.from(event)),
  '16k': (events) => cut(events, () => 16_384),
  '64k': (events) => cut(events, () => 65_536),
  random: (events) => cut(events, () => 1 + Math.floor(random() * random() * 4096)),
  'event as text': (events) => events.map(String),
};

/** Chunks as fetch yields them: each with memory of its own. */
function cut(events, size) {
  const all = Buffer.concat(events);
  const chunks = [];
  for (let at = 0; at < all.length; ) {
    const end = at + size();
    chunks.push(Uint8Array.from(all.subarray(at, end)));
    at = end;
  }
  return chunks;
}

function makeEvents(kind) {
  const events = [];
  for (let bytes = 0; bytes < BYTES; bytes += events.at(-1).length) {
    events.push(Buffer.from(KINDS[kind](100_000 + events.length)));
  }
  return events;
}

function walk(chunks) {
  let lines = 0;
  for (const chunk of chunks) {
    if (typeof chunk === 'string') {
      for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', at + 1)) lines += 1;
    } else {
      const { indexOf } = Buffer.prototype;
      for (let at = indexOf.call(chunk, 10); at >= 0; at = indexOf.call(chunk, 10, at + 1)) {
        lines += 1;
      }
    }
  }
  return lines;
}

function parse(chunks) {
  let events = 0;
  const decoder = new TextDecoder();
  const onEvent = () => {
    events += 1;
  };
  const parser = createParser({ onEvent });
  for (const chunk of chunks) {
    parser.feed(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
  }
  return events;
}

function scan(chunks, payload) {
  let events = 0;
  let tags = 0;
  const event = (scanner) => {
    events += 1;
    tags ^= scanner.payloadTag;
  };
  const scanner = new SseScanner({ event }, { payload });
  for (const chunk of chunks) {
    if (typeof chunk === 'string') scanner.pushString(chunk);
    else scanner.push(chunk);
  }
  return tags === -1 ? 0 : events;
}

/** CPU nanoseconds that one run takes, from as many runs as fit into a slice. */
function slice(run) {
  const before = process.cpuUsage();
  const end = performance.now() + sliceMs;
  let runs = 0;
  do {
    run();
    runs += 1;
  } while (performance.now() < end);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / runs;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function measure(events, chunks) {
  const whole = (found) => {
    if (found !== events) throw new Error(`${found} events were found instead of ${events}.`);
  };
  const contestants = {
    walk: () => walk(chunks),
    parser: () => whole(parse(chunks)),
    none: () => whole(scan(chunks, 'none')),
    hash: () => whole(scan(chunks, 'hash')),
  };
  const taken = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants).sort(() => random() - 0.5)) {
      const time = slice(run);
      if (round >= 0) taken[name].push(time);
    }
  }
  const ratio = (a, b) => median(taken[a].map((time, i) => time / taken[b][i])).toFixed(2);
  const extra = median(taken.hash.map((time, i) => (time - taken.none[i]) / events));
  return [
    (median(taken.none) / events).toFixed(0),
    ratio('none', 'parser'),
    ratio('none', 'walk'),
    ratio('hash', 'parser'),
    extra.toFixed(0),
  ];
}

const row = (cells) =>
  process.stdout.write(`| ${cells.map((cell) => String(cell).padEnd(14)).join(' | ')} |\n`);

row([
  'event',
  'chunks',
  'ns, no hash',
  '/ parser',
  '/ line walk',
  'hash / parser',
  'hash adds, ns',
]);
row(Array.from({ length: 7 }, () => '-'.repeat(14)));
for (const kind of Object.keys(KINDS)) {
  const events = makeEvents(kind);
  for (const [way, toChunks] of Object.entries(CUTS)) {
    if (!`${kind}/${way}`.includes(filter)) continue;
    row([kind, way, ...measure(events.length, toChunks(events))]);
  }
}
