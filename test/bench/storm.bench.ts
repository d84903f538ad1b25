// What does a connection cost that comes, reads its first bytes and goes, as in a storm of reconnects?
import type { ServerQuestions } from './children/server.ts';
import { Child } from './lib/child.ts';
import { interleave } from './lib/interleave.ts';
import { DD_TRACE, OTEL_HTTP, OTEL_HTTP_AND_PRODUCT, PRODUCT } from './lib/products.ts';
import { closeClients, openClients } from './lib/raw-clients.ts';
import { cells, figure, finish, heading, judge, noise, printTable } from './lib/report.ts';
import { differences, median, ratios, spreadOf } from './lib/spread.ts';

const SETUPS = {
  base: {},
  'base again (A/A)': {},
  product: PRODUCT,
  'otel http': OTEL_HTTP,
  'otel http + product': OTEL_HTTP_AND_PRODUCT,
  'dd-trace': DD_TRACE,
} as const;
type Name = keyof typeof SETUPS;
const NAMES = Object.keys(SETUPS) as Name[];
const PACE = { rounds: 30, warmup: 3 };
/** We judge what they only trace. */
const AHEAD = { atMost: 1 };
const WAVES = 4;
// The optimiser takes some thousand connections to finish.
const WARM_WAVES = 150;
const WAVE = 50;

const children = new Map<Name, Child<ServerQuestions>>();
for (const name of NAMES) children.set(name, await Child.start('server.ts', SETUPS[name]));

for (const name of NAMES) await storm(name, WARM_WAVES);
const variants = Object.fromEntries(NAMES.map((name) => [name, () => storm(name, WAVES)]));
const costs = (await interleave(variants, PACE)) as Record<Name, number[]>;
const rows = NAMES.map((name) => {
  const added = median(differences(costs[name], costs.base));
  const ratio = spreadOf(ratios(costs[name], costs.base));
  return [name, figure(median(costs[name])), ...cells(ratio), figure(added)];
});

heading('Storm: CPU for each connection on the server, ratio to no instrumentation');
printTable(['variant', 'us', 'CPU: min', 'median', 'max', 'added us'], rows);
noise('storm', spreadOf(ratios(costs['base again (A/A)'], costs.base)));
judge('G6', 'product / base', spreadOf(ratios(costs.product, costs.base)), { atMost: 1.12 });
const added = spreadOf(differences(costs.product, costs.base));
judge('G6', 'product, added', added, { atMost: 15, unit: ' us' });
const onTop = spreadOf(ratios(costs['otel http + product'], costs['otel http']));
judge('G6', 'otel http + product / otel http', onTop, { atMost: 1.2 });
for (const peer of ['otel http', 'dd-trace'] as const) {
  judge('peers', `product / ${peer}, storm`, spreadOf(ratios(costs.product, costs[peer])), AHEAD);
}
for (const child of children.values()) await child.stop();
finish();

/** @returns microseconds for each connection. */
async function storm(name: Name, waves: number): Promise<number> {
  const child = children.get(name);
  if (child === undefined) throw new Error(`no process for ${name}`);
  await child.ask('mark');
  for (let n = 0; n < waves; n++) await closeClients(await openClients(child.port, WAVE));
  for (let asked = 0; asked < 10_000; asked++) {
    const { cpu, open } = await child.ask('sinceMark');
    if (open === 0) return cpu / 1000;
  }
  throw new Error(`${name} still has connections that were closed`);
}
