// How much longer does a process take to start, and how much more memory?
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Setup } from './lib/child.ts';
import { interleave } from './lib/interleave.ts';
import { DD_TRACE, OTEL_HTTP, OTEL_HTTP_AND_PRODUCT, PRODUCT } from './lib/products.ts';
import { cells, figure, finish, heading, judge, judgeFact, printTable } from './lib/report.ts';
import { differences, median, ratios, spreadOf } from './lib/spread.ts';

interface Start {
  /** Milliseconds. */
  readonly wall: number;
  readonly cpu: number;
  /** MiB. */
  readonly rss: number;
  /** Threads beside the main one that run JavaScript: a hook of the ESM loader, for instance. */
  readonly workers: number;
}

const REGISTER = import.meta.resolve('@sameriver/node/register');
const SETUPS = {
  'node alone': {},
  'SseInstrumentation alone': PRODUCT,
  'sdk-node, http, undici': OTEL_HTTP,
  'sdk-node, http, undici + product': OTEL_HTTP_AND_PRODUCT,
  'dd-trace': DD_TRACE,
  '--import @sameriver/node/register, nothing used': { imports: [REGISTER] },
} satisfies Readonly<Record<string, Setup>>;
type Name = keyof typeof SETUPS;
const NAMES = Object.keys(SETUPS) as Name[];
const PACE = { rounds: 11, warmup: 2 };

const variants = Object.fromEntries(NAMES.map((name) => [name, () => start(SETUPS[name])]));
const starts = (await interleave(variants, PACE)) as Record<Name, Start[]>;

heading('Start-up of a process');
const base = starts['node alone'];
const rows = NAMES.map((name) => [
  name,
  figure(median(figures(name, 'wall'))),
  figure(median(differences(figures(name, 'wall'), of(base, 'wall')))),
  ...cells(spreadOf(ratios(figures(name, 'cpu'), of(base, 'cpu')))),
  figure(median(differences(figures(name, 'rss'), of(base, 'rss')))),
]);
printTable(
  ['loaded', 'wall ms', 'added ms', 'CPU, x node: min', 'median', 'max', 'added MiB'],
  rows,
);

const withSdk = starts['sdk-node, http, undici'];
const both = starts['sdk-node, http, undici + product'];
const onTop = spreadOf(ratios(of(both, 'cpu'), of(withSdk, 'cpu')));
judge('G12', 'CPU on top of sdk-node, http, undici', onTop, { atMost: 1.1 });
const more = spreadOf(differences(of(both, 'rss'), of(withSdk, 'rss')));
judge('G12', 'memory on top of sdk-node, http, undici', more, { atMost: 4, unit: ' MiB' });
const workers = Math.max(...NAMES.flatMap((name) => of(starts[name], 'workers')));
judgeFact('G12', 'no thread for a hook of the ESM loader', workers === 0, `${workers} threads`);
finish();

function figures(name: Name, what: keyof Start): number[] {
  return of(starts[name], what);
}

function of(all: readonly Start[], what: keyof Start): number[] {
  return all.map((one) => one[what]);
}

async function start({ imports = [], env = {} }: Setup): Promise<Start> {
  const started = performance.now();
  const application = fileURLToPath(new URL('children/idle.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      ...imports.map((url) => `--import=${url}`),
      application,
    ],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { ...process.env, ...env } },
  );
  const [told] = (await once(child, 'message')) as [Omit<Start, 'wall'>];
  await once(child, 'close');
  return { ...told, wall: performance.now() - started };
}
