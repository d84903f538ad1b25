// How much memory does a WebSocket that is open take, above what it takes anyway?
import type { WsClientQuestions } from './children/ws-client.ts';
import type { WsServerQuestions } from './children/ws-server.ts';
import type { Setup } from './lib/child.ts';
import { Child } from './lib/child.ts';
import { WEBSOCKET } from './lib/products.ts';
import { echo, openWebSockets } from './lib/raw-websockets.ts';
import { cells, finish, heading, judge, printTable } from './lib/report.ts';
import { spreadOf } from './lib/spread.ts';

// Code is compiled for the first few hundred, and is no cost of the others.
const FIRST = 500;
const MORE = 2000;
const TIMES = 3;
const AT_MOST = 512;

const CASES = {
  'server, ws': weighServer,
  'client, ws': (setup: Setup) => weighClient(setup, 'ws'),
  'client, global WebSocket': (setup: Setup) => weighClient(setup, 'global'),
} as const;

const rows: string[][] = [];
for (const [name, weigh] of Object.entries(CASES)) await measure(name, weigh);
heading(`Heap of each of ${MORE} open WebSockets above no instrumentation, in bytes`);
printTable(['side', 'min', 'median', 'max'], rows);
finish();

async function measure(name: string, weigh: (setup: Setup) => Promise<number>): Promise<void> {
  const added: number[] = [];
  for (let n = 0; n < TIMES; n++) added.push(-(await weigh({})) + (await weigh(WEBSOCKET)));
  const spread = spreadOf(added);
  rows.push([name, ...cells(spread)]);
  judge('G9', `heap for each open WebSocket: ${name}`, spread, { atMost: AT_MOST, unit: ' B' });
}

async function weighServer(setup: Setup): Promise<number> {
  const server = await Child.start<WsServerQuestions>('ws-server.ts', setup);
  const weighed: Weighed[] = [];
  for (const count of [FIRST, MORE]) {
    await echo(await openWebSockets(server.port, count), 60, 10);
    weighed.push(await server.ask('memory'));
  }
  await server.stop();
  return forEach(weighed);
}

async function weighClient(setup: Setup, by: 'ws' | 'global'): Promise<number> {
  const server = await Child.start<WsServerQuestions>('ws-server.ts', {}, 1);
  const client = await Child.start<WsClientQuestions>('ws-client.ts', setup);
  const weighed: Weighed[] = [];
  for (const [from, count] of [
    [0, FIRST],
    [FIRST, MORE],
  ] as const) {
    await client.ask('open', { port: server.port, from, count, by });
    weighed.push(await client.ask('memory'));
  }
  await client.stop();
  await server.stop();
  return forEach(weighed);
}

interface Weighed {
  readonly heap: number;
  readonly open: number;
}

function forEach([before, after]: readonly Weighed[]): number {
  if (before === undefined || after === undefined) throw new Error('weighed less than twice');
  return (after.heap - before.heap) / (after.open - before.open);
}
