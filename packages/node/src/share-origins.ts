import type { WebSocketInstrumentationConfig } from '@sameriver/instrumentation-websocket';
import { complain } from './complain.ts';
import { readSwitch } from './config/switches.ts';
import { loadOwn } from './lazy.ts';
import type { openOriginRedis } from './origin-redis.ts';

const SERVICE = /(?:^|,)\s*service\.name\s*=\s*([^,]*)/;

/**
 * Adds the index that `SAMERIVER_ORIGIN_REDIS` asks for, unless the application brings its own.
 *
 * @param failed Called where that cannot be used, which was then said in one line.
 */
export function shareOrigins(
  config: WebSocketInstrumentationConfig,
  failed: () => void,
): WebSocketInstrumentationConfig {
  const url = readSwitch('SAMERIVER_ORIGIN_REDIS', process.env);
  if (typeof url !== 'string' || config.originIndex !== undefined) return config;
  const { openOriginRedis: open } = loadOwn<{ readonly openOriginRedis: typeof openOriginRedis }>(
    'origin-redis',
  );
  const directory = process.cwd();
  const originIndex = open(url, directory, serviceName(process.env));
  if (originIndex !== undefined) return { ...config, originIndex };
  complain(
    'SAMERIVER_ORIGIN_REDIS has no effect: ' +
      `neither "redis" nor "ioredis" can be loaded from ${directory}; npm install redis`,
  );
  failed();
  return config;
}

/** A stream is known by its path, so services that share a Redis must not share its keys. */
function serviceName(env: NodeJS.ProcessEnv): string {
  const named = SERVICE.exec(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '')?.[1]?.trim();
  return env['OTEL_SERVICE_NAME'] || named || 'unknown_service';
}
