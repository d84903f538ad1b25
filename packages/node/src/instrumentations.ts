import type { Instrumentation } from '@opentelemetry/instrumentation';
import type { Profile } from '@sameriver/core';
import { ShapeError, validateProfile } from '@sameriver/core';
import { McpInstrumentation } from '@sameriver/instrumentation-mcp';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import type { WebSocketInstrumentationConfig } from '@sameriver/instrumentation-websocket';
import { WebSocketInstrumentation } from '@sameriver/instrumentation-websocket';
import { countInstrumentationError } from '@sameriver/telemetry';
import { complain } from './complain.ts';
import type { ReadConfig } from './config/read-config.ts';
import { readConfig } from './config/read-config.ts';
import { readSwitch } from './config/switches.ts';
import { exposeMetrics } from './expose-metrics.ts';
import { isDisabled, processState } from './process-state.ts';
import { shareOrigins } from './share-origins.ts';

const OURS = ['sse', 'websocket', 'mcp'] as const;

type Read = Pick<ReadConfig, 'config' | 'places'>;

type Make = (config: WebSocketInstrumentationConfig) => Instrumentation;

const MAKE: Readonly<Record<(typeof OURS)[number], Make>> = {
  sse: (config) => new SseInstrumentation(config),
  websocket: (config) => new WebSocketInstrumentation(config),
  mcp: (config) => new McpInstrumentation(config),
};

/**
 * The instrumentations of Same River, for an SDK that the application makes by hand:
 *
 * ```js
 * new NodeSDK({ instrumentations: [getNodeAutoInstrumentations(), ...getInstrumentations()] });
 * ```
 *
 * @param config Comes before `SAMERIVER_*` variables, those before `sameriver.json`. A value that
 *   cannot be used is named in one line on stderr, and what it would have overridden holds.
 * @returns One for event streams, one for WebSockets, and one that describes MCP, to be listed after
 *   the HTTP instrumentations. Without those that are switched off (`SAMERIVER_DISABLED`,
 *   `OTEL_NODE_DISABLED_INSTRUMENTATIONS=sse,websocket,mcp`), and empty when `@sameriver/node/register`
 *   has begun with them already: one stream must not be counted twice.
 */
export function getInstrumentations(
  config: WebSocketInstrumentationConfig = {},
): Instrumentation[] {
  const { env } = process;
  const problems: string[] = [];
  const disabled = readSwitch('SAMERIVER_DISABLED', env, problems);
  readSwitch('SAMERIVER_METRICS_PORT', env, problems);
  readSwitch('SAMERIVER_ORIGIN_REDIS', env, problems);
  if (disabled === true || OURS.every((name) => isDisabled(name, env))) return [];
  const state = processState();
  if (state.begun) {
    complain(
      'getInstrumentations() came after register had begun: what it was given has no effect',
    );
    return [];
  }
  state.handedOut = true;
  const read = readConfig(config, { env, cwd: process.cwd() });
  for (const problem of [...problems, ...read.problems]) {
    reject(problem, read.config);
  }
  return createInstrumentations(read);
}

/**
 * @param read From every place where options stand.
 * @returns Those that are not switched off.
 */
export function createInstrumentations(read: Read): Instrumentation[] {
  const { config } = read;
  exposeMetrics(config.metrics);
  // One configuration for both, so that they share their timelines: a stream may move (M1).
  const { metrics } = config;
  const failed = (): void => countInstrumentationError('config', metrics);
  const sound = shareOrigins(soundConfig(read), failed);
  return OURS.filter((name) => !isDisabled(name, process.env)).map((name) => MAKE[name](sound));
}

function soundConfig({ config, places }: Read): WebSocketInstrumentationConfig {
  const { profiles, identity, ...rest } = config;
  const sound = profiles?.filter((profile, index) => {
    return isSound(profile, `${places.get('profiles') ?? 'profiles'}/${index}`, rest);
  });
  const keys = typeof identity === 'object' ? { name: 'identity', identity } : undefined;
  const identifies =
    identity !== undefined &&
    (keys === undefined || isSound(keys, places.get('identity') ?? 'identity', rest));
  return {
    ...rest,
    ...(sound && { profiles: sound }),
    ...(identifies && { identity }),
  };
}

// The instrumentation throws for what it cannot read, which a developer wants and a host does not.
function isSound(profile: Profile, at: string, config: WebSocketInstrumentationConfig): boolean {
  try {
    validateProfile(profile, at);
    return true;
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    reject(`${error.message}; it is left out`, config);
    return false;
  }
}

/** Says what cannot be used, and counts it. */
function reject(problem: string, { metrics }: WebSocketInstrumentationConfig): void {
  complain(problem);
  countInstrumentationError('config', metrics);
}
