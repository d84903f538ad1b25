import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A program written in Go, or why there is none. */
export type GoProgram =
  | { readonly binary: string; readonly absent?: never }
  | {
      readonly binary?: never;
      readonly absent: string;
      /** Whether there is a Go that it could be built with. */
      readonly go?: boolean;
    };

/**
 * Looks whether `.ci/<name>.mjs` has built a program; builds nothing itself. `jaeger` is Jaeger v2,
 * which is an OpenTelemetry Collector too; `promtool` is that of Prometheus 3.
 */
export function goProgram(name: 'jaeger' | 'promtool'): GoProgram {
  const build = fileURLToPath(new URL(`../../../.ci/${name}.mjs`, import.meta.url));
  const { stdout } = spawnSync(process.execPath, [build, '--cached'], { encoding: 'utf8' });
  return JSON.parse(stdout) as GoProgram;
}
