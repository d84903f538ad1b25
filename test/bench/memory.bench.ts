// How much memory does a stream that is open take, above what it takes anyway?
import type { ClientQuestions } from './children/client.ts';
import type { ServerQuestions } from './children/server.ts';
import type { Setup } from './lib/child.ts';
import { Child } from './lib/child.ts';
import { OTEL_HTTP, OTEL_HTTP_AND_PRODUCT, PRODUCT } from './lib/products.ts';
import { openClients } from './lib/raw-clients.ts';
import { cells, finish, heading, judge, printTable } from './lib/report.ts';
import { spreadOf } from './lib/spread.ts';

interface Memory {
  readonly heap: number;
  readonly external: number;
}

interface Case {
  readonly side: 'server' | 'client';
  readonly streams: number;
  /** `own`: each stream has a path, and so a log, of its own. `shared`: all read one feed. */
  readonly paths: 'own' | 'shared';
  readonly ids: 'integer' | 'opaque';
  /** Events on each stream. */
  readonly events: number;
  readonly times: number;
  readonly sdk?: boolean;
}

const KIBIBYTE = 1024;
// Code is compiled for the first thousand streams, and is no cost of the others.
const FIRST = 1500;
const INTEGER = { ids: 'integer', events: 3, times: 1 } as const;
const OPAQUE = { ids: 'opaque', events: 3, times: 1 } as const;
const CASES: readonly Case[] = [
  { side: 'server', streams: 1000, paths: 'shared', ...INTEGER, times: 3 },
  { side: 'server', streams: 3500, paths: 'shared', ...INTEGER },
  { side: 'server', streams: 100, paths: 'own', ...INTEGER, times: 5 },
  { side: 'server', streams: 1000, paths: 'own', ...INTEGER, times: 3 },
  { side: 'server', streams: 10_000, paths: 'own', ...INTEGER },
  { side: 'server', streams: 1000, paths: 'own', ...INTEGER, events: 100 },
  { side: 'server', streams: 1000, paths: 'own', ...OPAQUE },
  { side: 'server', streams: 1000, paths: 'own', ...INTEGER, sdk: true },
  { side: 'client', streams: 100, paths: 'own', ...INTEGER, times: 5 },
  { side: 'client', streams: 1000, paths: 'own', ...INTEGER, times: 3 },
  { side: 'client', streams: 10_000, paths: 'own', ...INTEGER },
  { side: 'client', streams: 1000, paths: 'shared', ...INTEGER },
  { side: 'client', streams: 1000, paths: 'own', ...INTEGER, events: 100 },
  { side: 'client', streams: 1000, paths: 'own', ...OPAQUE },
];

const rows: string[][] = [];
for (const one of CASES) await measure(one);
heading('Memory of an open stream above no instrumentation, in bytes');
printTable(
  [
    'side',
    'streams',
    'paths',
    'ids',
    'events',
    'SDK',
    'heap: min',
    'median',
    'max',
    'outside: min',
    'median',
    'max',
  ],
  rows,
);
finish();

async function measure(one: Case): Promise<void> {
  const { side, streams, paths, ids, events, times, sdk = false } = one;
  const heap: number[] = [];
  const external: number[] = [];
  const weigh = side === 'server' ? weighServer : weighClient;
  for (let n = 0; n < times; n++) {
    const without = await weigh(sdk ? OTEL_HTTP : {}, one);
    const withProduct = await weigh(sdk ? OTEL_HTTP_AND_PRODUCT : PRODUCT, one);
    heap.push(withProduct.heap - without.heap);
    external.push(withProduct.external - without.external);
  }
  const above = spreadOf(heap);
  const what = [side, `${streams}`, paths, ids, `${events}`, sdk ? 'yes' : 'no'];
  rows.push([...what, ...cells(above), ...cells(spreadOf(external))]);
  const atMost = (ids === 'opaque' ? 4 : sdk ? 2.5 : 1) * KIBIBYTE;
  const name = `${side}, ${streams} streams on ${paths} paths, ${ids} ids, ${events} events`;
  judge('G9', `heap, ${name}${sdk ? ', with spans' : ''}`, above, { atMost, unit: ' B' });
}

async function weighServer(setup: Setup, { streams, paths, ids, events }: Case): Promise<Memory> {
  const server = await Child.start<ServerQuestions>('server.ts', setup);
  const path = (n: number): string => (paths === 'own' ? `/sse/${n}` : '/sse');
  const weighed: Weighed[] = [];
  for (const [from, count] of batches(streams)) {
    await openClients(server.port, count, (n) => path(from + n));
    await server.ask('send', { times: events, size: 60, ids });
    weighed.push(await server.ask('memory'));
  }
  await server.stop();
  return forEach(weighed);
}

async function weighClient(setup: Setup, { streams, paths, ids, events }: Case): Promise<Memory> {
  const server = await Child.start<ServerQuestions>('server.ts', {}, 1);
  const client = await Child.start<ClientQuestions>('client.ts', setup);
  const weighed: Weighed[] = [];
  for (const [from, count] of batches(streams)) {
    await client.ask('open', { port: server.port, from, count, ownPaths: paths === 'own' });
    await server.ask('send', { times: events, size: 60, ids });
    weighed.push(await client.ask('memory'));
  }
  await client.stop();
  await server.stop();
  return forEach(weighed);
}

type Weighed = Memory & { readonly open: number };

function batches(streams: number): ReadonlyArray<readonly [from: number, count: number]> {
  return [
    [0, FIRST],
    [FIRST, streams],
  ];
}

function forEach([before, after]: readonly Weighed[]): Memory {
  if (before === undefined || after === undefined) throw new Error('weighed less than twice');
  const opened = after.open - before.open;
  return {
    heap: (after.heap - before.heap) / opened,
    external: (after.external - before.external) / opened,
  };
}
