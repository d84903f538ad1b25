// What does the tap add to res.write, without a kernel? And what does it leave behind when it is off?
import type { ServerResponse } from 'node:http';
import { ServerResponse as Response } from 'node:http';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { openResponses } from './lib/dropped-response.ts';
import { cpuNow, interleave } from './lib/interleave.ts';
import {
  cells,
  figure,
  finish,
  heading,
  judge,
  judgeFact,
  noise,
  printTable,
} from './lib/report.ts';
import { differences, median, ratios, spreadOf } from './lib/spread.ts';

interface Cost {
  /** Nanoseconds for each event. */
  readonly cpu: number;
  /** Bytes for each event. */
  readonly allocated: number;
}

type Form = 'string' | 'Buffer';
type Identity = 'payload' | 'id';

const PACE = { rounds: 25, warmup: 6 };
const STREAM = 'text/event-stream';
const CELLS: readonly (readonly [number, Form, number])[] = [
  [60, 'string', 1.18],
  [60, 'Buffer', 1.22],
  [1024, 'string', 1.05],
  [1024, 'Buffer', 1.25],
  [65_536, 'string', 1.1],
  [65_536, 'Buffer', 1.1],
];
// What the comparison of payloads may add to a small event, in nanoseconds.
const PAYLOAD_IDENTITY = 100;
// What may be blamed on the counting of bytes itself.
const NO_BYTES = 2;

const rows: string[][] = [];
let lastId = 100_000;
const added = new Map<string, number>();
const original = Response.prototype.write;
const bare = { stream: openResponses('bare', STREAM), plain: openResponses('bare', 'text/plain') };
const again = openResponses('bare', STREAM);

for (const identity of ['id', 'payload'] as const) await measureTap(identity);
for (const form of ['string', 'Buffer'] as const) {
  const more = (added.get(`payload 60 ${form}`) ?? 0) - (added.get(`id 60 ${form}`) ?? 0);
  const spread = { min: more, median: more, max: more };
  const unit = ' ns';
  judge('G4', `payload identity, 60 B ${form}`, spread, { atMost: PAYLOAD_IDENTITY, unit });
}
heading('Server, JavaScript only: 100 responses over a socket that drops everything');
printTable(
  ['event', 'tap', 'CPU ratio: min', 'median', 'max', 'added ns', 'added bytes/event'],
  rows,
);
finish();

async function measureTap(identity: Identity): Promise<void> {
  const instrumentation = new SseInstrumentation({ identity, client: false });
  const followed = openResponses('patched', STREAM);
  const plain = openResponses('patched', 'text/plain');
  for (const [size, form, limit] of CELLS) await measureCell(identity, size, form, limit, followed);
  if (identity === 'id') await measurePlain(plain);
  countClockReads(identity, followed);
  instrumentation.disable();
  if (identity === 'payload') await measureReleased(followed);
}

async function measureCell(
  identity: Identity,
  size: number,
  form: Form,
  limit: number,
  followed: ServerResponse[],
): Promise<void> {
  const costs = await interleave(
    {
      bare: () => slice(bare.stream, size, form),
      again: () => slice(again, size, form),
      followed: () => slice(followed, size, form),
    },
    PACE,
  );
  const name = `${size} B ${form}`;
  if (identity === 'id') noise(name, tell(name, 'none again (A/A)', costs.again, costs.bare));
  const ratio = tell(name, `identity ${identity}`, costs.followed, costs.bare);
  added.set(
    `${identity} ${size} ${form}`,
    median(differences(cpu(costs.followed), cpu(costs.bare))),
  );
  if (identity === 'id') judge('G4', `write, ${name}, identity id`, ratio, { atMost: limit });
  const bytes = spreadOf(differences(allocated(costs.followed), allocated(costs.bare)));
  judge('G3', `allocated, ${name}, identity ${identity}`, bytes, { atMost: NO_BYTES, unit: ' B' });
}

async function measurePlain(plain: ServerResponse[]): Promise<void> {
  const costs = await interleave(
    { bare: () => slice(bare.plain, 60, 'string'), plain: () => slice(plain, 60, 'string') },
    PACE,
  );
  const ratio = tell('60 B string', 'no event stream', costs.plain, costs.bare);
  judge('G4', 'write on a response that is no event stream', ratio, { atMost: 1.02 });
}

async function measureReleased(released: ServerResponse[]): Promise<void> {
  const costs = await interleave(
    { bare: () => slice(bare.stream, 60, 'string'), released: () => slice(released, 60, 'string') },
    PACE,
  );
  const ratio = tell('60 B string', 'followed before, disabled', costs.released, costs.bare);
  judge('G13', 'write after disable()', ratio, { atLeast: 0.98, atMost: 1.02 });
  const isBack = Response.prototype.write === original;
  judgeFact('G13', 'the original functions are back', isBack, isBack ? 'yes' : 'no');
}

function tell(
  event: string,
  tap: string,
  costs: Cost[],
  base: Cost[],
): ReturnType<typeof spreadOf> {
  const ratio = spreadOf(ratios(cpu(costs), cpu(base)));
  const more = median(differences(cpu(costs), cpu(base)));
  const bytes = median(differences(allocated(costs), allocated(base)));
  rows.push([event, tap, ...cells(ratio), figure(more), figure(bytes)]);
  return ratio;
}

async function slice(responses: ServerResponse[], size: number, form: Form): Promise<Cost> {
  const times = size > 10_000 ? 6 : 60;
  const pad = 'x'.repeat(size - 42);
  gc?.({ type: 'minor' });
  const heap = process.memoryUsage().heapUsed;
  const started = cpuNow();
  for (let n = 0; n < times; n++) {
    lastId++;
    for (const response of responses) response.write(eventOf(lastId, pad, form));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const events = times * responses.length;
  const cost = (cpuNow() - started) / events;
  return { cpu: cost, allocated: (process.memoryUsage().heapUsed - heap) / events };
}

function eventOf(id: number, pad: string, form: Form): string | Buffer {
  const text = `id: ${id}\ndata: {"n":${id},"t":"${pad}"}\n\n`;
  return form === 'string' ? text : Buffer.from(text);
}

function countClockReads(identity: Identity, responses: ServerResponse[]): void {
  const dateNow = Date.now;
  const monotonic = performance.now;
  let reads = 0;
  Date.now = () => {
    reads++;
    return dateNow();
  };
  performance.now = () => {
    reads++;
    return monotonic.call(performance);
  };
  for (const response of responses) response.write(eventOf(lastId, '', 'string'));
  Date.now = dateNow;
  performance.now = monotonic;
  judgeFact('G3', `no clock is read, identity ${identity}`, reads === 0, `${reads} reads`);
}

function cpu(costs: readonly Cost[]): number[] {
  return costs.map((cost) => cost.cpu);
}

function allocated(costs: readonly Cost[]): number[] {
  return costs.map((cost) => cost.allocated);
}
