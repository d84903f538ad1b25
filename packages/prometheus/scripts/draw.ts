// Draws docs/pictures/: plays the demo, has a real Prometheus scrape it, asks it what each dashboard
// asks, and draws the answers. Grafana is not needed, so the pictures show its panels and not its pages.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { goProgram, jaegerServer, startGateway } from '@sameriver/testkit';
import { parse, View } from 'vega';
import { compile } from 'vega-lite';
import { BOARDS } from './dashboards/all.ts';
import type { Dashboard, Span } from './drawing/answered.ts';
import { answered } from './drawing/answered.ts';
import { pictureOf } from './drawing/panel-spec.ts';
import type { Prometheus } from './drawing/prometheus-server.ts';
import { startPrometheus } from './drawing/prometheus-server.ts';

const run = promisify(execFile);
const CLI = fileURLToPath(new URL('../../cli/bin/sameriver.js', import.meta.url));
const PICTURES = new URL('../../../docs/pictures/', import.meta.url);

/** Dashboards on which the load shows more than the incidents do. */
const UNDER_LOAD: ReadonlySet<string> = new Set(['continuity', 'load', 'replay-window']);

/** Milliseconds. */
const AFTERMATH = 3_000;

const now = (): number => Date.now() / 1_000;

interface Stage {
  readonly prometheus: Prometheus;
  /** Where spans go, which the gateway counts and a Jaeger keeps. */
  readonly otlp: string;
}

async function play({ prometheus, otlp }: Stage, options: readonly string[]): Promise<Span> {
  const from = now();
  await run(process.execPath, [CLI, 'demo', ...options, '--targets', prometheus.targetsFile], {
    env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: otlp },
  });
  // The last scrapes still count in the intervals after them.
  await sleep(AFTERMATH);
  return { from, to: now() };
}

async function draw(prometheus: Prometheus, name: string, span: Span): Promise<void> {
  const file = new URL(`../dashboards/${name}.json`, import.meta.url);
  const dashboard = JSON.parse(readFileSync(file, 'utf8')) as Dashboard;
  const rows = await answered(dashboard, prometheus, span);
  const picture = pictureOf(dashboard.title, rows, Math.ceil(span.to - span.from));
  const view = new View(parse(compile(picture).spec), { renderer: 'none' });
  writeFileSync(new URL(`dashboard-${name}.svg`, PICTURES), `${await view.toSVG()}\n`);
}

const { binary, absent } = goProgram('jaeger');
if (binary === undefined) throw new Error(`Nobody counts the spans: ${absent}`);
const jaeger = await jaegerServer(binary);
const gateway = await startGateway(binary, jaeger);
const prometheus = await startPrometheus(gateway.metrics);
try {
  const stage = { prometheus, otlp: gateway.otlp };
  const incidents = await play(stage, []);
  // Between two runs nothing is up, and no line should reach from one into the other.
  await sleep(10_000);
  const load = await play(stage, ['--load']);
  for (const { name } of BOARDS) {
    await draw(prometheus, name, UNDER_LOAD.has(name) ? load : incidents);
  }
} finally {
  await prometheus.close();
  await gateway.close();
  await jaeger.close();
}
