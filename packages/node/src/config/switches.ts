import type { Check } from './check.ts';
import { choice, flag, integer } from './check.ts';

/**
 * `auto`: join the SDK of the application; start one only where the application has none by the
 * time the first server listens or the first event stream is asked for. `on`: start one at once.
 * `off`: never start one.
 */
export type SdkMode = 'auto' | 'on' | 'off';

interface Switch {
  readonly env: string;
  readonly check: Check;
  readonly standard: string;
  readonly text: string;
}

/** Longer, and whoever told the process to end would kill it. */
const LONGEST_EXIT = 60_000;

/** What concerns the start and the end of a process, and so is read from the environment alone. */
export const SWITCHES: readonly Switch[] = [
  {
    env: 'SAMERIVER_DISABLED',
    check: flag,
    standard: 'off',
    text: 'leave the process as if Same River were not there',
  },
  {
    env: 'SAMERIVER_SDK',
    check: choice('auto', 'on', 'off'),
    standard: 'auto',
    text: 'whether to start an OpenTelemetry SDK: where the application starts none, at once, or never',
  },
  {
    env: 'SAMERIVER_EXIT_TIMEOUT',
    check: integer(0, LONGEST_EXIT, 'milliseconds'),
    standard: '1000',
    text: 'how long the end of a process may wait for what is still to be exported, where the SDK is ours',
  },
  {
    env: 'SAMERIVER_METRICS_PORT',
    check: integer(1, 65_535),
    standard: 'none',
    text: 'serve `GET /metrics` for Prometheus on this port, from the first use of the process on',
  },
  {
    env: 'SAMERIVER_METRICS_HOST',
    check: { expected: 'an address or a name', accepts: () => true, parse: (text) => text },
    standard: '127.0.0.1',
    text: 'where that port is listened on; in a container usually 0.0.0.0',
  },
  {
    env: 'SAMERIVER_ORIGIN_REDIS',
    check: {
      expected: 'a URL such as redis://host:6379',
      accepts: (value) => typeof value === 'string' && /^rediss?:\/\/./.test(value),
      parse: (text) => text,
    },
    standard: 'none',
    text: 'the Redis through which instances tell each other who issued which ids ([origins](origins.md))',
  },
  {
    env: 'SAMERIVER_CONFIG_FILE',
    check: { expected: 'a path', accepts: () => true, parse: (text) => text },
    standard: '`sameriver.json` in the working directory, if there is one',
    text: 'the configuration file',
  },
];

/**
 * @param problems Gets one line for a value that cannot be used.
 * @returns The value of a switch, or `undefined` when it is not set.
 */
export function readSwitch(name: string, env: NodeJS.ProcessEnv, problems: string[] = []): unknown {
  const text = env[name];
  const known = SWITCHES.find((entry) => entry.env === name);
  if (!text || known === undefined) return undefined;
  const value = known.check.parse(text);
  if (known.check.accepts(value)) return value;
  problems.push(`${name} is ${JSON.stringify(text)}: expected ${known.check.expected}`);
  return undefined;
}
