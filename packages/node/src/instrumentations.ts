import type { Instrumentation } from '@opentelemetry/instrumentation';
import type { Profile } from '@sameriver/core';
import { ShapeError, validateProfile } from '@sameriver/core';
import type { SseInstrumentationConfig } from '@sameriver/instrumentation-sse';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { complain } from './complain.ts';
import { readConfig } from './config/read-config.ts';
import { readSwitch } from './config/switches.ts';
import { isDisabled, processState } from './process-state.ts';

/**
 * The instrumentations of Same River, for an SDK that the application makes by hand:
 *
 * ```js
 * new NodeSDK({ instrumentations: [getNodeAutoInstrumentations(), ...getInstrumentations()] });
 * ```
 *
 * @param config Comes before `SAMERIVER_*` variables, those before `sameriver.json`. A value that
 *   cannot be used is named in one line on stderr, and what it would have overridden holds.
 * @returns To be listed after the HTTP instrumentations. Empty when they are switched off
 *   (`SAMERIVER_DISABLED`, `OTEL_NODE_DISABLED_INSTRUMENTATIONS=sse`) or `@sameriver/node/register`
 *   has begun with them already: one stream must not be counted twice.
 */
export function getInstrumentations(config: SseInstrumentationConfig = {}): Instrumentation[] {
  const { env } = process;
  const problems: string[] = [];
  const disabled = readSwitch('SAMERIVER_DISABLED', env, problems);
  if (disabled === true || isDisabled('sse', env)) return [];
  const state = processState();
  if (state.begun) {
    complain(
      'getInstrumentations() came after register had begun: what it was given has no effect',
    );
    return [];
  }
  state.handedOut = true;
  const read = readConfig(config, { env, cwd: process.cwd() });
  for (const problem of [...problems, ...read.problems]) complain(problem);
  return createInstrumentations(read.config);
}

export function createInstrumentations(config: SseInstrumentationConfig): Instrumentation[] {
  const { profiles, identity, ...rest } = config;
  const sound = profiles?.filter((profile, index) => isSound(profile, `profiles/${index}`));
  const keys = typeof identity === 'object' ? { name: 'identity', identity } : undefined;
  const identifies = identity !== undefined && (keys === undefined || isSound(keys, 'identity'));
  return [
    new SseInstrumentation({
      ...rest,
      ...(sound && { profiles: sound }),
      ...(identifies && { identity }),
    }),
  ];
}

// The instrumentation throws for what it cannot read, which a developer wants and a host does not.
function isSound(profile: Profile, at: string): boolean {
  try {
    validateProfile(profile, `/${at}`);
    return true;
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    complain(`${error.message.replace(/^\//, '')}; it is left out`);
    return false;
  }
}
