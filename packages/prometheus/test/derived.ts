import type { RuleTest } from './promtool.ts';

const OF_CLIENTS = 'job="orders", event_stream_protocol_name="sse", event_stream_role="client"';
const recorded = (name: string, labels: string = OF_CLIENTS): string =>
  `job:event_stream_${name}{${labels}}`;

// --- shares of reconnects in windows of burn rates -------------------------------------------------

/** Minutes of each window and between two values: enough of them in it, and few in all. */
const WINDOWS = [
  ['5m', 5, 1],
  ['30m', 30, 1],
  ['1h', 60, 5],
  ['6h', 360, 30],
  ['3d', 4_320, 240],
] as const;

/** 8 before the window, 4 in its first half, 0 since: an average of about 2 in this window alone. */
function falling(window: number, every: number): string {
  const steps = window / every;
  const half = Math.ceil(steps / 2);
  return `8x${2 * steps - 1} 4x${half} 0x${steps - half}`;
}

const AVERAGES: readonly RuleTest[] = WINDOWS.flatMap(([name, window, every]): RuleTest[] => {
  const ratio = recorded(`reoriginations_per_judged_reconnect:ratio_avg${name}`, '');
  const reoriginations = recorded('reoriginations:increase5m');
  const judged = recorded('judged_reconnects:increase5m');
  const steady = `20x${4 * window}`;
  const at = 3 * window + every;
  const about = (expected: number) => [
    { expr: `count((${ratio} > ${expected * 0.65}) < ${expected * 1.45})`, at, is: { '{}': 1 } },
  ];
  const tests: Array<Omit<RuleTest, 'rules' | 'every'>> = [
    {
      name: `the share in ${name} is of the re-originations in ${name}`,
      series: { [reoriginations]: falling(window, every), [judged]: steady },
      expect: about(2 / 20),
    },
    {
      name: `the share in ${name} is of the reconnects in ${name}`,
      series: { [reoriginations]: steady, [judged]: falling(window, every) },
      expect: about(20 / 2),
    },
    {
      name: `there is no share in ${name} of no reconnects`,
      series: { [reoriginations]: steady, [judged]: `0x${4 * window}` },
      expect: [{ expr: ratio, at, is: {} }],
    },
  ];
  return tests.map((test) => ({ ...test, rules: ['recording'], every }));
});

// --- the replay window ------------------------------------------------------------------------------

const BUCKETS = ['10', '100', '+Inf'] as const;
const P99 = 'job:event_stream_server_replay_size:p99_1h';

/** Replays of two instances: 90 of at most 10 events at one, 10 of at most 100 at the other. */
function replays(values: (count: number) => string): Record<string, string> {
  const series: Record<string, string> = {};
  for (const [instance, counts] of Object.entries({ a: [90, 90, 90], b: [0, 10, 10] })) {
    for (const [index, le] of BUCKETS.entries()) {
      const labels = `job="orders", instance="${instance}", event_stream_protocol_name="sse", le="${le}"`;
      series[`event_stream_server_replay_size_bucket{${labels}}`] = values(counts[index] ?? 0);
    }
  }
  return series;
}

// 99 of 100 replays: nine tenths of the way from 10 to 100.
const DEEP = { [`${P99}{job="orders", event_stream_protocol_name="sse"}`]: 91 };
const READ = `round(${P99})`;
const SEEN = { '{job="orders", event_stream_protocol_name="sse"}': 91 };

const REPLAYS: readonly RuleTest[] = [
  {
    name: 'the largest replays of an hour are those of all instances, and of no more than an hour',
    series: replays((count) => `0x9 ${count}x90`),
    expect: [
      { expr: READ, at: 68, is: SEEN },
      { expr: `${P99} >= 0`, at: 72, is: {} },
    ],
  },
  {
    name: 'replays in series that begin with them are of the last hour for an hour',
    series: replays((count) => `_x10 ${count}x90`),
    expect: [
      { expr: P99, at: 11, is: DEEP },
      { expr: READ, at: 69, is: SEEN },
      { expr: `${P99} >= 0`, at: 72, is: {} },
    ],
  },
  {
    name: 'replays are counted although their process begins anew after them',
    series: replays((count) => `0x9 ${count} 0x90`),
    expect: [{ expr: READ, at: 60, is: SEEN }],
  },
  {
    name: 'replays from before a pause in scraping are not new',
    series: replays((count) => `${count}x40 _x98 ${count}x5`),
    expect: [{ expr: `${P99} >= 0`, at: 141, is: {} }],
  },
  {
    name: 'replays of a process that was not seen for over two hours are',
    series: replays((count) => `${count}x5 _x130 ${count}x5`),
    expect: [{ expr: READ, at: 138, is: SEEN }],
  },
  {
    name: 'the fullest window of a job and protocol is what counts',
    series: Object.fromEntries(
      [
        ['a', 'sse', 10],
        ['b', 'sse', 90],
        ['a', 'orders', 50],
      ].flatMap(([instance, protocol, usage]) => {
        const labels = `job="orders", instance="${instance}", event_stream_protocol_name="${protocol}"`;
        return [
          [`event_stream_server_replay_window_usage{${labels}}`, `${usage}x5`],
          [`event_stream_server_replay_window_limit{${labels}}`, '100x5'],
        ];
      }),
    ),
    expect: [
      {
        expr: 'job:event_stream_server_replay_window:usage_ratio',
        at: 3,
        is: {
          [recorded(
            'server_replay_window:usage_ratio',
            'job="orders", event_stream_protocol_name="sse"',
          )]: 0.9,
          [recorded(
            'server_replay_window:usage_ratio',
            'job="orders", event_stream_protocol_name="orders"',
          )]: 0.5,
        },
      },
    ],
  },
];

const BY_LEVEL: RuleTest = {
  name: 'the share of re-originations is one of each role and level of load',
  series: {
    [recorded('reoriginations:increase1h', `${OF_CLIENTS}, event_stream_load_level="high"`)]: '3x5',
    [recorded('reconnects:increase1h', `${OF_CLIENTS}, event_stream_load_level="high"`)]: '12x5',
    [recorded('reoriginations:increase1h', `${OF_CLIENTS}, event_stream_load_level="low"`)]: '1x5',
    [recorded('reconnects:increase1h', `${OF_CLIENTS}, event_stream_load_level="low"`)]: '8x5',
  },
  expect: [
    {
      expr: 'job:event_stream_reoriginations_per_reconnect:ratio_increase1h',
      at: 3,
      is: Object.fromEntries(
        Object.entries({ high: 0.25, low: 0.125 }).map(([level, share]) => [
          recorded(
            'reoriginations_per_reconnect:ratio_increase1h',
            `${OF_CLIENTS}, event_stream_load_level="${level}"`,
          ),
          share,
        ]),
      ),
    },
  ],
};

/** What is recorded of other records, and of gauges and histograms. */
export const DERIVED_TESTS: readonly RuleTest[] = [
  ...AVERAGES,
  ...[...REPLAYS, BY_LEVEL].map((test): RuleTest => ({ ...test, rules: ['recording'] })),
];
