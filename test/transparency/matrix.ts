import { fileURLToPath } from 'node:url';
import type { NodeRun } from '@sameriver/testkit';
import { nodeBinary, nodeFloorBinary, runNode } from '@sameriver/testkit';

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url));
const REGISTER = '@sameriver/node/register';

/** Node lines of the matrix; the floor has a binary on some platforms only. */
export const LINES = ['22.15', '22', '24', '26'] as const;
export type Line = (typeof LINES)[number];

const MODULES = ['mjs', 'cjs'] as const;
const FLAGS = ['--import', '--require'] as const;
/** Who else is in the process: an SDK of either line alone, or with everything that it brings. */
const COMPANIES = ['sdk-3', 'sdk-2', 'auto', 'dd-trace', 'sentry'] as const;

type Company = (typeof COMPANIES)[number];

/** One way to start a process. */
export interface Setting {
  readonly line: Line;
  readonly modules: (typeof MODULES)[number];
  readonly flag: (typeof FLAGS)[number];
  readonly company: Company;
}

/** What one row saw in a process. */
export interface RowResult {
  readonly row: string;
  /** All that must not depend on us, in one text. */
  readonly seen: string;
  /** Names of spans of event streams that were started: whether we were there. */
  readonly spans: readonly string[];
  readonly failed: string | undefined;
}

const PRELOADS: Readonly<Record<Company, readonly string[]>> = {
  'sdk-3': ['--require', './sdk-3.cjs'],
  'sdk-2': ['--require', './sdk-2.cjs'],
  auto: ['--require', './peer-auto.cjs'],
  'dd-trace': ['--require', './peer-dd-trace.cjs'],
  sentry: ['--import', './peer-sentry.mjs'],
};

/** None of them has anybody to send to. */
const QUIET = {
  DD_TRACE_AGENT_URL: 'http://127.0.0.1:1',
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
  NO_COLOR: '1',
};

/** The binary of a line, or `undefined` where this platform has none. */
export function binaryOf(line: Line): string | undefined {
  return line === '22.15' ? nodeFloorBinary() : nodeBinary(Number(line) as 22 | 24 | 26);
}

export function describeSetting({ line, modules, flag, company }: Setting): string {
  return `Node ${line}, ${modules === 'mjs' ? 'ES modules' : 'CommonJS'}, ${flag}, beside ${company}`;
}

/** Every setting of the full product. */
export function allSettings(): Setting[] {
  return LINES.flatMap((line) =>
    MODULES.flatMap((modules) =>
      FLAGS.flatMap((flag) => COMPANIES.map((company) => ({ line, modules, flag, company }))),
    ),
  );
}

/**
 * The cheap part: every module system with every flag on the line that runs, and every other line
 * and every company once; and `--require` where Node runs it in the thread of loader hooks as well.
 */
export function someSettings(): Setting[] {
  const [running = '24'] = process.versions.node.split('.', 1);
  const own = running as Line;
  const base = { line: own, modules: 'mjs', flag: '--import', company: 'sdk-3' } as const;
  return [
    ...MODULES.flatMap((modules) => FLAGS.map((flag) => ({ ...base, modules, flag }))),
    ...LINES.filter((line) => line !== own).map((line) => ({ ...base, line })),
    ...COMPANIES.slice(1).map((company) => ({ ...base, company })),
    { ...base, line: '22', flag: '--require', company: 'sentry' },
  ];
}

export type Side = 'without us' | 'with us';

/** Runs all rows, or those named, in one process of that setting. */
export async function runRows(
  setting: Setting,
  side: Side,
  rows: readonly string[] = [],
): Promise<ReadonlyMap<string, RowResult>> {
  const run = await start(setting, side, [`entry.${setting.modules}`, ...rows]);
  const lines = run.stdout.split('\n').filter((line) => line.startsWith('{"row"'));
  if (run.code !== 0 || lines.length === 0) {
    throw new Error(`${describeSetting(setting)}, ${side}: ${JSON.stringify(run, undefined, 1)}`);
  }
  return new Map(lines.map((line) => resultOf(line)));
}

/** Runs a process to its end. */
export async function runToEnd(setting: Setting, side: Side, way: string): Promise<NodeRun> {
  const run = await start(setting, side, ['ends.mjs', way]);
  return { ...run, stderr: withoutStack(run.stderr) };
}

function start(
  { line, flag, company }: Setting,
  side: Side,
  program: readonly string[],
): Promise<NodeRun> {
  const binary = binaryOf(line);
  if (binary === undefined) throw new Error(`Node ${line} has no binary on this platform.`);
  const ours = side === 'with us' ? [flag, REGISTER] : [];
  // Both behind flags before Node 24 and 22.12; the others take them as they are.
  const args = ['--experimental-eventsource', '--no-warnings', ...PRELOADS[company], ...ours];
  return runNode([...args, ...program], { cwd: FIXTURES, env: QUIET, binary });
}

function resultOf(line: string): [string, RowResult] {
  const { row, spans, seen, ...rest } = JSON.parse(line) as {
    row: string;
    spans: string[];
    seen: unknown;
  };
  const failed = (seen as { failed?: string } | undefined)?.failed;
  const text = JSON.stringify({ seen, ...rest }, undefined, 1)
    .split('\n')
    .map(withoutIds);
  return [row, { row, seen: text.join('\n'), spans, failed }];
}

/** Trace headers name another span when ours are among them, as they should. */
function withoutIds(text: string): string {
  return text
    .replace(/\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b/g, '*')
    .replace(/(sentry-trace\\n)[0-9a-f-]*/g, '$1*')
    .replace(/(sentry-(?:transaction|sample_rand)=)[^,"\\]*/g, '$1*')
    .replace(/(x-datadog-[a-z-]+\\n)[^\\]*/g, '$1*')
    .replace(/(tracestate\\n)[^"\\]*/g, '$1*');
}

/** Frames of what stands between the application and Node are no message of the application. */
function withoutStack(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^\s+at /.test(line))
    .join('\n');
}
