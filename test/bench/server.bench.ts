// What does an event cost on a real server, kernel included?
import type { ServerQuestions } from './children/server.ts';
import { Child } from './lib/child.ts';
import type { Slice } from './lib/interleave.ts';
import { interleave } from './lib/interleave.ts';
import {
  DD_TRACE,
  OTEL_HTTP,
  OTEL_HTTP_AND_PRODUCT,
  PRODUCT,
  PRODUCT_BY_ID,
} from './lib/products.ts';
import { closeClients, openClients } from './lib/raw-clients.ts';
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
import { median, ratios, spreadOf } from './lib/spread.ts';

const SETUPS = {
  base: {},
  'base again (A/A)': {},
  product: PRODUCT,
  'product, identity id': PRODUCT_BY_ID,
  'otel http': OTEL_HTTP,
  'otel http + product': OTEL_HTTP_AND_PRODUCT,
  'dd-trace': DD_TRACE,
} as const;
type Name = keyof typeof SETUPS;
const NAMES = Object.keys(SETUPS) as Name[];

interface Cell {
  readonly streams: number;
  readonly size: number;
  readonly times: number;
  readonly rounds: number;
}

/** Larger events are the kernel's work, in which no two products differ. */
const SMALL = 60;
const CELLS: readonly Cell[] = [
  { streams: 100, size: 60, times: 20, rounds: 50 },
  { streams: 100, size: 1024, times: 20, rounds: 40 },
  { streams: 100, size: 65_536, times: 2, rounds: 40 },
  { streams: 1000, size: 60, times: 2, rounds: 50 },
  { streams: 1000, size: 1024, times: 2, rounds: 40 },
  { streams: 1000, size: 65_536, times: 1, rounds: 10 },
];

const children = new Map<Name, Child<ServerQuestions>>();
for (const name of NAMES) children.set(name, await Child.start('server.ts', SETUPS[name]));

const rows: string[][] = [];
const means = { cpu: [] as number[], throughput: [] as number[] };
for (const cell of CELLS) await measure(cell);
judge('G5', 'product: mean CPU ratio of the cells', only(means.cpu), { atMost: 1.05 });
judge('G5', 'product: mean throughput of the cells', only(means.throughput), { atLeast: 0.98 });
await checkSpans();
for (const child of children.values()) await child.stop();
heading('Server: CPU for each event and throughput, ratios to no instrumentation');
printTable(
  [
    'streams',
    'event',
    'variant',
    'us/event',
    'CPU: min',
    'median',
    'max',
    'thr.: min',
    'median',
    'max',
  ],
  rows,
);
finish();

async function measure({ streams, size, times, rounds }: Cell): Promise<void> {
  const sockets = await Promise.all(NAMES.map((name) => openClients(childOf(name).port, streams)));
  const variants = Object.fromEntries(
    NAMES.map((name) => [name, () => childOf(name).ask('send', { times, size })]),
  ) as Record<Name, () => Promise<Slice>>;
  const slices = await interleave(variants, { rounds, warmup: 8 });
  for (const name of NAMES) tell(name, `${streams}`, `${size} B`, slices[name], slices.base);
  if (size === SMALL) {
    const [ours, peers] = [slices.product, slices['dd-trace']].map((all) => all.map((s) => s.cpu));
    const ahead = spreadOf(ratios(ours ?? [], peers ?? []));
    judge('G5', `product / dd-trace: CPU, ${streams} x ${size} B`, ahead, { atMost: 1 });
  }
  await Promise.all(sockets.map(closeClients));
}

function tell(name: Name, streams: string, size: string, slices: Slice[], base: Slice[]): void {
  const cpu = spreadOf(
    ratios(
      slices.map((s) => s.cpu),
      base.map((s) => s.cpu),
    ),
  );
  const throughput = spreadOf(
    ratios(
      base.map((s) => s.wall),
      slices.map((s) => s.wall),
    ),
  );
  const each = figure(median(slices.map((slice) => slice.cpu)) / 1000);
  rows.push([streams, size, name, each, ...cells(cpu), ...cells(throughput)]);
  const cell = `${streams} x ${size}`;
  if (name === 'base again (A/A)') noise(`CPU, ${cell}`, cpu);
  if (name === 'product') {
    means.cpu.push(cpu.median);
    means.throughput.push(throughput.median);
    judge('G5', `product: CPU, ${cell}`, cpu, { atMost: 1.05 });
    judge('G5', `product: throughput, ${cell}`, throughput, { atLeast: 0.95 });
  }
  if (name === 'otel http + product') {
    judge('G5', `otel http + product: CPU, ${cell}`, cpu, { atMost: 1.07 });
  }
}

async function checkSpans(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1500));
  for (const name of ['otel http', 'otel http + product'] as const) {
    const spans = await childOf(name).ask('spans');
    judgeFact('G5', `${name}: spans were made`, spans > 0, `${spans} spans`);
  }
}

function childOf(name: Name): Child<ServerQuestions> {
  const child = children.get(name);
  if (child === undefined) throw new Error(`no process for ${name}`);
  return child;
}

function only(figures: readonly number[]) {
  const mean = figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
  return { min: Math.min(...figures), median: mean, max: Math.max(...figures) };
}
