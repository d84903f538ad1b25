// What does a message cost on a real server of WebSockets, kernel included?
import type { WsServerQuestions } from './children/ws-server.ts';
import { Child } from './lib/child.ts';
import { interleave } from './lib/interleave.ts';
import {
  DD_TRACE,
  OTEL_WS,
  WEBSOCKET,
  WEBSOCKET_NUMBERED,
  WEBSOCKET_NUMBERED_BY_ID,
} from './lib/products.ts';
import { closeClients } from './lib/raw-clients.ts';
import { echo, openWebSockets } from './lib/raw-websockets.ts';
import { cells, figure, finish, heading, judge, noise, printTable } from './lib/report.ts';
import { differences, median, ratios, spreadOf } from './lib/spread.ts';

const SETUPS = {
  base: {},
  'base again (A/A)': {},
  product: WEBSOCKET,
  'product, one field looked up': WEBSOCKET_NUMBERED,
  'the same, identity id': WEBSOCKET_NUMBERED_BY_ID,
  'otel ws': OTEL_WS,
  'dd-trace': DD_TRACE,
} as const;
type Name = keyof typeof SETUPS;
const NAMES = Object.keys(SETUPS) as Name[];
const LIMITS: Partial<Record<Name, number>> = {
  product: 1.02,
  'product, one field looked up': 1.08,
  'the same, identity id': 1.08,
};

interface Cell {
  readonly kind: 'echo' | 'fan-out';
  readonly sockets: number;
  readonly size: number;
  readonly times: number;
}

const CELLS: readonly Cell[] = [
  { kind: 'echo', sockets: 20, size: 100, times: 50 },
  { kind: 'echo', sockets: 20, size: 4096, times: 20 },
  { kind: 'fan-out', sockets: 100, size: 100, times: 10 },
  { kind: 'fan-out', sockets: 100, size: 4096, times: 8 },
];
const PACE = { rounds: 50, warmup: 15 };

const children = new Map<Name, Child<WsServerQuestions>>();
for (const name of NAMES) children.set(name, await Child.start('ws-server.ts', SETUPS[name]));

const rows: string[][] = [];
for (const cell of CELLS) await measure(cell);
heading('WebSockets: CPU for each message on the server, ratio to no instrumentation');
printTable(['test', 'bytes', 'variant', 'us', 'CPU: min', 'median', 'max', 'added ns'], rows);
for (const child of children.values()) await child.stop();
finish();

async function measure({ kind, sockets, size, times }: Cell): Promise<void> {
  const opened = await Promise.all(
    NAMES.map((name) => openWebSockets(childOf(name).port, sockets)),
  );
  const variants = Object.fromEntries(
    NAMES.map((name, i) => [
      name,
      async () => {
        const child = childOf(name);
        if (kind === 'fan-out') return child.ask('send', { times, size });
        await child.ask('mark');
        await echo(opened[i] ?? [], size, times);
        return child.ask('sinceMark');
      },
    ]),
  ) as Record<Name, () => Promise<{ cpu: number }>>;
  const slices = await interleave(variants, PACE);
  const cpuOf = (name: Name): number[] => slices[name].map(({ cpu }) => cpu);
  for (const name of NAMES) {
    const spread = spreadOf(ratios(cpuOf(name), cpuOf('base')));
    const added = median(differences(cpuOf(name), cpuOf('base')));
    const each = figure(median(cpuOf(name)) / 1000);
    rows.push([kind, `${size}`, name, each, ...cells(spread), figure(added)]);
    const atMost = LIMITS[name];
    if (name === 'base again (A/A)') noise(`${kind} ${size} B`, spread);
    if (atMost !== undefined) judge('G8', `${name}: CPU, ${kind} ${size} B`, spread, { atMost });
  }
  // A peer that follows the messages too; the other one sees the handshake alone.
  const ahead = spreadOf(ratios(cpuOf('product'), cpuOf('dd-trace')));
  judge('peers', `product / dd-trace: CPU, ${kind} ${size} B`, ahead, { atMost: 1 });
  await Promise.all(opened.map(closeClients));
}

function childOf(name: Name): Child<WsServerQuestions> {
  const child = children.get(name);
  if (child === undefined) throw new Error(`no process for ${name}`);
  return child;
}
