// How much memory does a stream that is open take, above what it takes anyway?
import type { ClientQuestions } from './children/client.ts';
import type { ServerQuestions } from './children/server.ts';
import type { Setup } from './lib/child.ts';
import { Child } from './lib/child.ts';
import { OTEL_HTTP, OTEL_HTTP_AND_PRODUCT, PRODUCT } from './lib/products.ts';
import { closeClients, openClients } from './lib/raw-clients.ts';
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
const WARM = 400;
const INTEGER = { ids: 'integer', events: 3, times: 2 } as const;
const OPAQUE = { ids: 'opaque', events: 3, times: 2 } as const;
const CASES: readonly Case[] = [
  { side: 'server', streams: 100, paths: 'shared', ...INTEGER },
  { side: 'server', streams: 1000, paths: 'shared', ...INTEGER },
  { side: 'server', streams: 5000, paths: 'shared', ...INTEGER, times: 1 },
  { side: 'server', streams: 1000, paths: 'own', ...INTEGER },
  { side: 'server', streams: 1000, paths: 'own', ...INTEGER, events: 100 },
  { side: 'server', streams: 1000, paths: 'own', ...OPAQUE },
  { side: 'server', streams: 1000, paths: 'own', ...INTEGER, sdk: true },
  { side: 'client', streams: 100, paths: 'own', ...INTEGER },
  { side: 'client', streams: 1000, paths: 'own', ...INTEGER },
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
  // Code is compiled for the first few hundred streams, and is no cost of the others.
  const warm = await openClients(server.port, WARM, (n) => `/warm/${n}`);
  await server.ask('send', { times: 20, size: 60, ids });
  await closeClients(warm);
  const before = await server.ask('memory');
  await openClients(server.port, streams, path);
  await server.ask('send', { times: events, size: 60, ids });
  const after = await server.ask('memory');
  await server.stop();
  return forEach(before, after);
}

async function weighClient(setup: Setup, { streams, paths, ids, events }: Case): Promise<Memory> {
  const server = await Child.start<ServerQuestions>('server.ts', {}, 1);
  const client = await Child.start<ClientQuestions>('client.ts', setup);
  await client.ask('open', { port: server.port, count: WARM, ownPaths: true });
  await server.ask('send', { times: 20, size: 60, ids });
  await client.ask('close');
  const before = await client.ask('memory');
  await client.ask('open', { port: server.port, count: streams, ownPaths: paths === 'own' });
  await server.ask('send', { times: events, size: 60, ids });
  const after = await client.ask('memory');
  await client.stop();
  await server.stop();
  return forEach(before, after);
}

function forEach(
  before: Memory & { readonly open: number },
  after: Memory & { readonly open: number },
): Memory {
  const opened = after.open - before.open;
  return {
    heap: (after.heap - before.heap) / opened,
    external: (after.external - before.external) / opened,
  };
}
