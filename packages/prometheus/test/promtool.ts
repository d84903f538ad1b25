import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { debianPackageOrReason, goProgram } from '@sameriver/testkit';
import { stringify } from 'yaml';

export const FOLDER: string = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);

type Found = { readonly path: string } | { readonly absent: string };

/** The two lines of Prometheus on which the rules are to hold. */
export const PROMTOOLS: ReadonlyArray<{ readonly name: string; find(): Promise<Found> }> = [
  {
    name: 'Prometheus 2.42, of Debian',
    find: () => debianPackageOrReason('prometheus', 'promtool'),
  },
  { name: 'Prometheus 3, where ranges are open on the left', find: builtByGo },
];

/** @throws Error in a CI run that has a Go and not this program. */
function builtByGo(): Promise<Found> {
  const { binary, absent = '', ...rest } = goProgram('promtool');
  if (binary !== undefined) return Promise.resolve({ path: binary });
  if ('go' in rest && process.env['CI_TEST_REPORT'] !== undefined) throw new Error(absent);
  return Promise.resolve({ absent });
}

export async function promtool(program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, { cwd: FOLDER });
  return stdout;
}

/** One test of `promtool test rules`. */
export interface RuleTest {
  readonly name: string;
  /** What series hold from minute 0 on, in the notation of promtool. */
  readonly series: Readonly<Record<string, string>>;
  /** Files that are needed; default both. */
  readonly rules?: ReadonlyArray<'recording' | 'alerts'>;
  /** Minutes between two values and two evaluations; default 1. */
  readonly every?: number;
  readonly expect?: ReadonlyArray<{
    readonly expr: string;
    /** Minute. */
    readonly at: number;
    /** Values by series. */
    readonly is: Readonly<Record<string, number>>;
  }>;
  readonly alerts?: ReadonlyArray<{
    readonly alertname: string;
    readonly at: number;
    readonly exp_alerts: readonly unknown[];
  }>;
}

/** @throws Error with what promtool expected and found. */
export async function runRuleTests(program: string, tests: readonly RuleTest[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sameriver-rules-'));
  try {
    const files = [...Map.groupBy(tests, settingsOf)].map(([settings, group], index) => {
      const file = join(folder, `${index}.yaml`);
      writeFileSync(file, stringify({ ...JSON.parse(settings), tests: group.map(asYaml) }));
      return file;
    });
    await promtool(program, 'test', 'rules', ...files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What tests of one file have in common. */
function settingsOf({ rules = ['recording', 'alerts'], every = 1 }: RuleTest): string {
  return JSON.stringify({
    rule_files: rules.map((name) => join(FOLDER, `rules/${name}.yaml`)),
    evaluation_interval: `${every}m`,
    group_eval_order: rules.map((name) => `event_stream.${name}`),
  });
}

function asYaml({ name, series, every = 1, expect = [], alerts = [] }: RuleTest): unknown {
  return {
    name,
    interval: `${every}m`,
    input_series: Object.entries(series).map(([of, values]) => ({ series: of, values })),
    promql_expr_test: expect.map(({ expr, at, is }) => ({
      expr,
      eval_time: `${at}m`,
      exp_samples: Object.entries(is).map(([labels, value]) => ({ labels, value })),
    })),
    alert_rule_test: alerts.map(({ at, ...alert }) => ({ ...alert, eval_time: `${at}m` })),
  };
}
