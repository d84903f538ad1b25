import type { WebSocketInstrumentationConfig } from '@sameriver/instrumentation-websocket';
import type { Check } from './check.ts';
import { choice, flag, identity, integer, LONGEST_DELAY, list, ratio } from './check.ts';

export interface Option {
  /** Where it stands in the configuration object and in `sameriver.json`. */
  readonly path: string;
  /** `undefined`: too large for an environment variable. */
  readonly env: string | undefined;
  readonly check: Check;
  /** What holds when nobody sets it, as documented. */
  readonly standard: string;
  /** Half a sentence. */
  readonly text: string;
}

/** Functions cannot be written in a file; `enabled` belongs to the SDK. */
export const OBJECT_ONLY = [
  'enabled',
  'streamKey',
  'ignoreRequest',
  'reportHook',
  'decodeBinary',
  'originIndex',
] as const;

type DataKey = Exclude<keyof WebSocketInstrumentationConfig, (typeof OBJECT_ONLY)[number]>;

const MILLISECONDS = integer(0, LONGEST_DELAY, 'milliseconds');
const COUNT = integer(1, 2 ** 24);
const CAPTURE = choice('raw', 'hash', 'off');

// Keyed by the members of the instrumentation's own type: a new one does not compile until it is
// listed here, and so documented and readable from file and environment.
const BY_MEMBER: { readonly [Key in DataKey]: readonly Option[] } = {
  client: [option('client', 'CLIENT', flag, 'on', 'follow the streams that this process reads')],
  server: [option('server', 'SERVER', flag, 'on', 'follow the streams that this process writes')],
  capture: [
    option('capture.cursor', 'CAPTURE_CURSOR', CAPTURE, 'raw', 'how cursors leave the process'),
    option(
      'capture.epoch',
      'CAPTURE_EPOCH',
      CAPTURE,
      'raw; hash for a session id',
      'how epoch tokens leave the process',
    ),
  ],
  reconnectWindow: [
    option(
      'reconnectWindow',
      'RECONNECT_WINDOW',
      MILLISECONDS,
      '60000',
      'how long after a drop a request without cursor still continues the stream (L2)',
    ),
  ],
  decisionTimeout: [
    option(
      'decisionTimeout',
      'DECISION_TIMEOUT',
      MILLISECONDS,
      '15000',
      'how long a reconnect may stay without a verdict (R16)',
    ),
  ],
  identity: [
    option('identity', 'IDENTITY', identity, 'payload', 'what makes two deliveries one event (G2)'),
  ],
  metrics: [
    option(
      'metrics',
      'METRICS',
      choice('otel', 'prometheus', 'both'),
      'prometheus where this process exposes such a registry, else otel',
      'where metrics go',
    ),
  ],
  events: [
    option(
      'events',
      'EVENTS',
      choice('log', 'span', 'both', 'off'),
      'log',
      'where moments (a gap, a disconnect) are told',
    ),
  ],
  eventBudget: [
    option('eventBudget.burst', 'EVENT_BURST', COUNT, '10', 'moments one stream may tell at once'),
    option(
      'eventBudget.interval',
      'EVENT_INTERVAL',
      MILLISECONDS,
      '6000',
      'after how long it may tell one more',
    ),
  ],
  markReoriginatedAsError: [
    option(
      'markReoriginatedAsError',
      'MARK_REORIGINATED_AS_ERROR',
      flag,
      'off',
      'give the span of a re-originated reconnect the status ERROR',
    ),
  ],
  load: [...levelOptions('elevated', '0.7', '50'), ...levelOptions('high', '0.9', '200')],
  closedStreams: [
    option('closedStreams', 'CLOSED_STREAMS', COUNT, '4096', 'closed streams to remember'),
  ],
  history: [
    option('history', 'HISTORY', COUNT, '8192', 'events to remember over all open streams'),
  ],
  profiles: [
    option('profiles', undefined, list, 'none', 'protocols of your own, before the built-in ones'),
  ],
};

/** Every option that can be written down, in the order of the documentation. */
export const OPTIONS: readonly Option[] = Object.values(BY_MEMBER).flat();

function option(
  path: string,
  env: string | undefined,
  check: Check,
  standard: string,
  text: string,
): Option {
  return { path, env: env && `SAMERIVER_${env}`, check, standard, text };
}

function levelOptions(level: string, utilization: string, delay: string): Option[] {
  const at = (member: string, env: string, check: Check, standard: string, what: string): Option =>
    option(
      `load.${level}.${member}`,
      `LOAD_${level.toUpperCase()}_${env}`,
      check,
      standard,
      `${what} from which load.level is ${level}`,
    );
  return [
    at('eventLoopUtilization', 'UTILIZATION', ratio, utilization, 'event-loop utilization'),
    at('eventLoopDelay', 'DELAY', MILLISECONDS, delay, 'p99 of event-loop delay, in milliseconds,'),
    at('activeStreams', 'STREAMS', COUNT, 'none', 'number of open streams'),
  ];
}
