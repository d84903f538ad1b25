import type { Firing } from './alerting.ts';
import { CLIENT_LABELS, firing, OF_CLIENTS, told } from './alerting.ts';
import { BURN_TESTS } from './burn-rates.ts';
import type { RuleTest } from './promtool.ts';

const OF = 'job="orders", event_stream_protocol_name="sse"';

interface Limit {
  readonly alert: string;
  readonly name: string;
  readonly series: Readonly<Record<string, string>>;
  readonly fires: Firing;
  readonly every?: number;
}

/** After `before` minutes without, steadily: fires once it has been so for as long as `for` says. */
const begins = (value: number, before = 5): string => `0x${before - 1} ${value}x100`;
const FROM_MINUTE_5: Firing = [
  [5, 0],
  [6, 1],
];
const NEVER: Firing = [[30, 0]];

/** Alerts that fire when a rule has something to say for a minute. */
const AT_ONCE: readonly Limit[] = [
  ['Reoriginated', `job:event_stream_reoriginations:increase15m{${OF_CLIENTS}}`],
  ['EventsMissed', `job:event_stream_gaps:increase15m{${OF_CLIENTS}}`],
  ['EventsDuplicated', `job:event_stream_duplicate_events:increase15m{${OF_CLIENTS}}`],
  [
    'MigrationLossy',
    'job:event_stream_migrations:increase15m{job="orders", event_stream_migration_outcome="lossy"}',
  ],
  [
    'ReplayWindowExceeded',
    `job:event_stream_reoriginations:increase15m{${OF_CLIENTS}, event_stream_reason="window_exceeded"}`,
  ],
  ['InstrumentationErrors', 'job:event_stream_instrumentation_errors:increase15m{job="orders"}'],
].map(([alert = '', series = '']) => ({
  alert,
  name: 'from the first one on, after a minute',
  series: { [series]: begins(0.5) },
  fires: FROM_MINUTE_5,
}));

const unverifiable = (of: number, reconnects: number): Limit['series'] => ({
  [`job:event_stream_unverifiable_reconnects:increase30m{${OF_CLIENTS}}`]: `${of}x100`,
  [`job:event_stream_answered_reconnects:increase30m{${OF_CLIENTS}}`]: `${reconnects}x100`,
});

const STORM = `job:event_stream_reconnects:increase5m{${OF_CLIENTS}}`;

const underLoad = (high: number, low: number, count: number): Limit['series'] => {
  const ratio = 'job:event_stream_reoriginations_per_reconnect:ratio_increase1h';
  return {
    [`${ratio}{${OF_CLIENTS}, event_stream_load_level="high"}`]: `${high}x100`,
    [`${ratio}{${OF_CLIENTS}, event_stream_load_level="low"}`]: `${low}x100`,
    [`job:event_stream_reoriginations:increase1h{${OF_CLIENTS}, event_stream_load_level="high"}`]: `${count}x100`,
  };
};

/** Two instances with windows of 200 and 100 events. */
const window = (usage: number, depth: number): Limit['series'] => ({
  [`job:event_stream_server_replay_window:usage_ratio{${OF}}`]: `${usage}x100`,
  [`job:event_stream_server_replay_size:p99_1h{${OF}}`]: `${depth}x100`,
  [`event_stream_server_replay_window_limit{${OF}, instance="a"}`]: '200x100',
  [`event_stream_server_replay_window_limit{${OF}, instance="b"}`]: '100x100',
});

const errors = (reason: string, instance = 'a'): string =>
  `event_stream_instrumentation_errors_total{job="orders", instance="${instance}", event_stream_reason="${reason}"}`;

const LIMITS: readonly Limit[] = [
  ...AT_ONCE,

  {
    alert: 'UnverifiableShare',
    name: 'more than half of ten reconnects, for 15 minutes',
    series: unverifiable(6, 10),
    fires: [
      [14, 0],
      [15, 1],
    ],
  },
  { alert: 'UnverifiableShare', name: 'half', series: unverifiable(5, 10), fires: NEVER },
  { alert: 'UnverifiableShare', name: 'nine reconnects', series: unverifiable(9, 9), fires: NEVER },

  {
    alert: 'ReconnectStorm',
    name: 'more than five times the usual, after a minute',
    series: { [STORM]: '10x29 51x10' },
    fires: [
      [30, 0],
      [31, 1],
    ],
  },
  {
    alert: 'ReconnectStorm',
    name: 'five times the usual',
    series: { [STORM]: '10x79 50x3' },
    fires: [[405, 0]],
    every: 5,
  },
  {
    alert: 'ReconnectStorm',
    name: 'thirty reconnects where there is one else',
    series: { [STORM]: '1x79 30x3' },
    fires: [[405, 1]],
    every: 5,
  },
  {
    alert: 'ReconnectStorm',
    name: 'twenty-nine',
    series: { [STORM]: '1x79 29x3' },
    fires: [[405, 0]],
    every: 5,
  },
  {
    alert: 'ReconnectStorm',
    name: 'more than usual, though not more than once',
    series: { [STORM]: '1x39 300 1x38 50x3' },
    fires: [[405, 1]],
    every: 5,
  },
  {
    alert: 'ReconnectStorm',
    name: 'less than usual, though more than at night',
    series: { [STORM]: '1x39 20x39 50x3' },
    fires: [[405, 0]],
    every: 5,
  },
  {
    alert: 'ReconnectStorm',
    name: 'what was usual before six hours and a quarter is forgotten',
    series: { [STORM]: '100x81 1x75 40x3' },
    fires: [[795, 1]],
    every: 5,
  },
  {
    alert: 'ReconnectStorm',
    name: 'what was usual before two hours and a quarter is not',
    series: { [STORM]: '20x131 1x27 40x3' },
    fires: [[805, 0]],
    every: 5,
  },
  {
    alert: 'ReconnectStorm',
    name: 'the last quarter of an hour is not yet usual',
    series: { [STORM]: '1x81 1000 40x3' },
    fires: [[420, 1]],
    every: 5,
  },
  {
    alert: 'ReconnectStorm',
    name: 'what is older than that is',
    series: { [STORM]: '1x83 1000x3 1x1 40x3' },
    fires: [[455, 0]],
    every: 5,
  },

  {
    alert: 'ReoriginationUnderLoad',
    name: 'more than three times as often, for five minutes',
    series: underLoad(0.875, 0.25, 3),
    fires: [
      [4, 0],
      [5, 1],
    ],
  },
  {
    alert: 'ReoriginationUnderLoad',
    name: 'three times as often',
    series: underLoad(0.75, 0.25, 3),
    fires: NEVER,
  },
  {
    alert: 'ReoriginationUnderLoad',
    name: 'two reconnects',
    series: underLoad(0.875, 0.25, 2),
    fires: NEVER,
  },

  {
    alert: 'ReplayWindowNearlyExhausted',
    name: 'replays of more than half the largest window, for five minutes',
    series: window(0.95, 101),
    fires: [
      [4, 0],
      [5, 1],
    ],
  },
  {
    alert: 'ReplayWindowNearlyExhausted',
    name: 'replays of half of it',
    series: window(0.95, 100),
    fires: NEVER,
  },
  {
    alert: 'ReplayWindowNearlyExhausted',
    name: 'a window that is nine tenths full',
    series: window(0.9, 101),
    fires: NEVER,
  },

  {
    alert: 'TelemetryAbsent',
    name: 'for ten minutes, and until an hour and ten minutes after the last',
    series: { [errors('decoder')]: '0x30 _x120' },
    fires: [
      [44, 0],
      [46, 1],
      [98, 1],
      [102, 0],
    ],
  },

  {
    alert: 'InstrumentationErrors',
    name: 'a configuration that cannot be used, for as long as it is used',
    series: { [errors('config')]: '0x100', [errors('config', 'b')]: '1x100' },
    fires: [[30, 1]],
  },
  {
    alert: 'InstrumentationErrors',
    name: 'configurations that can',
    series: { [errors('config')]: '0x100' },
    fires: NEVER,
  },
];

const SAYINGS: readonly RuleTest[] = [
  {
    name: 'Reoriginated adds up the reasons',
    series: Object.fromEntries(
      ['epoch_changed', 'id_reused'].map((reason, index) => [
        `job:event_stream_reoriginations:increase15m{${OF_CLIENTS}, event_stream_reason="${reason}"}`,
        `${index + 1}x9`,
      ]),
    ),
    alerts: [
      told(
        'EventStreamReoriginated',
        5,
        { ...CLIENT_LABELS, severity: 'warning' },
        'Streams began anew instead of going on.',
        'orders (client side, sse): 3 reconnects in 15 minutes were given another stream than the one they asked for. Events may be lost or repeated, and no status code says so.',
      ),
    ],
  },
  {
    name: 'InstrumentationErrors says of a configuration how often one process found it wanting',
    series: { [errors('config', 'a')]: '2x90', [errors('config', 'b')]: '1x90' },
    alerts: [
      told(
        'EventStreamInstrumentationErrors',
        80,
        { event_stream_reason: 'config', severity: 'warning' },
        'The instrumentation of streams has failed in a part.',
        'orders: 2 failures of config. The application is not affected, but what that part watched may not be counted any more.',
      ),
    ],
  },
];

/** Alerts on both sides of every limit in their expressions, with what is recorded as given. */
export const LIMIT_TESTS: readonly RuleTest[] = [
  ...LIMITS.map(({ alert, name, series, fires, every = 1 }): RuleTest => {
    return { name: `${alert}: ${name}`, series, every, expect: firing(alert, fires) };
  }),
  ...BURN_TESTS,
  ...SAYINGS,
].map((test) => ({ ...test, rules: ['alerts'] }));
