// What does it cost to describe streams of MCP, on top of following them?
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { McpInstrumentation } from '@sameriver/instrumentation-mcp';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { fetchedBody } from './lib/fetched-body.ts';
import type { Slice } from './lib/interleave.ts';
import { cpuNow, interleave } from './lib/interleave.ts';
import { cells, figure, finish, heading, judge, noise, printTable } from './lib/report.ts';
import { differences, median, ratios, spreadOf } from './lib/spread.ts';

const HEADERS = ['mcp-session-id', 'a3f0', 'mcp-protocol-version', '2025-11-25'];
const SIZE = 200;

interface Cell {
  readonly unit: string;
  readonly streams: number;
  readonly events: number;
  /** Of the CPU time without the description. */
  readonly atMost: number;
}

const CELLS: readonly Cell[] = [
  { unit: 'message', streams: 1, events: 3000, atMost: 1.03 },
  { unit: 'connection', streams: 1000, events: 1, atMost: 1.25 },
];

const exporter = {
  export: (_spans: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve(),
};
const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
const sse = new SseInstrumentation({ server: false });
sse.setTracerProvider(provider);
const mcp = new McpInstrumentation({ server: false });
mcp.disable();

const rows: string[][] = [];
for (const cell of CELLS) {
  const costs = await interleave(
    {
      alone: () => read(cell),
      again: () => read(cell),
      described: async () => {
        mcp.enable();
        const cost = await read(cell);
        mcp.disable();
        return cost;
      },
    },
    { rounds: 31, warmup: 8 },
  );
  const cpu = (name: keyof typeof costs): number[] => costs[name].map((cost) => cost.cpu);
  const ratio = spreadOf(ratios(cpu('described'), cpu('alone')));
  noise(`each ${cell.unit}`, spreadOf(ratios(cpu('again'), cpu('alone'))));
  const more = median(differences(cpu('described'), cpu('alone')));
  rows.push([cell.unit, figure(median(cpu('alone')) / 1000), ...cells(ratio), figure(more)]);
  judge('MCP', `described, each ${cell.unit}`, ratio, { atMost: cell.atMost });
}
heading('MCP: CPU with the description of its streams, ratio to following them alone');
printTable(['for each', 'us', 'CPU ratio: min', 'median', 'max', 'added ns'], rows);
finish();

async function read({ streams, events }: Cell): Promise<Slice> {
  gc?.({ type: 'minor' });
  const started = performance.now();
  const cpu = cpuNow();
  for (let stream = 0; stream < streams; stream++) {
    const reader = fetchedBody(SIZE, events, HEADERS).getReader();
    while (!(await reader.read()).done);
  }
  const units = streams * events;
  return { cpu: (cpuNow() - cpu) / units, wall: (1e6 * (performance.now() - started)) / units };
}
