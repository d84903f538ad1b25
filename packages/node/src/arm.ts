import { isSdkRegistered } from './api-globals.ts';
import type { begin, Start } from './begin.ts';
import { complain } from './complain.ts';
import { readConfig } from './config/read-config.ts';
import type { SdkMode } from './config/switches.ts';
import { readSwitch } from './config/switches.ts';
import { atFirstUse } from './first-use.ts';
import { loadOwn } from './lazy.ts';
import { isBelowFloor } from './node-floor.ts';
import { processState } from './process-state.ts';

/**
 * Waits for the first use of the process and begins then, or begins at once where an SDK is there
 * already or is asked for.
 *
 * Waiting costs next to nothing, and it is for the application's sake: as soon as the first
 * instrumentation of a process exists, every module is kept as it was when first required, so that
 * an SDK which the application starts later would find `http` beyond its reach.
 */
export function arm(): void {
  try {
    const { env } = process;
    if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return;
    const problems: string[] = [];
    const disabled = readSwitch('SAMERIVER_DISABLED', env, problems);
    const sdk = (readSwitch('SAMERIVER_SDK', env, problems) ?? 'auto') as SdkMode;
    readSwitch('SAMERIVER_METRICS_PORT', env, problems);
    readSwitch('SAMERIVER_ORIGIN_REDIS', env, problems);
    const state = processState();
    if (disabled === true || state.armed) return;
    state.armed = true;
    const { node } = process.versions;
    if (isBelowFloor(node)) {
      complain(`needs Node 22.15 or later, this is ${node}: the application runs without it`);
      return;
    }
    const { problems: more, ...read } = readConfig({}, { env, cwd: process.cwd() });
    problems.push(...more);
    for (const problem of problems) complain(problem);
    const start = { ...read, sdk, problems: problems.length };
    if (sdk === 'on' || isSdkRegistered()) beginSafely(start);
    else atFirstUse(() => beginSafely(start));
  } catch (error) {
    giveUp(error);
  }
}

function beginSafely(start: Start): void {
  try {
    loadOwn<{ readonly begin: typeof begin }>('begin').begin(start);
  } catch (error) {
    giveUp(error);
  }
}

function giveUp(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  complain(`could not start, the application runs without it: ${reason.replace(/\s+/g, ' ')}`);
}
