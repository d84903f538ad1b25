import type { RuleTest } from './promtool.ts';

/** A rule that adds up what series grew by within a window. */
interface Sum {
  readonly record: string;
  readonly role?: 'client' | 'server';
  readonly metric: string;
  /** Minutes. */
  readonly window: number;
  /** Labels that are kept, besides `job`. */
  readonly by: readonly string[];
  readonly counts?: (labels: Labels) => boolean;
}

type Labels = Readonly<Record<string, string>>;

const RECONNECTS: Readonly<Record<string, readonly string[]>> = {
  event_stream_protocol_name: ['sse', 'orders'],
  event_stream_classification: ['unverifiable', 'resumed', 'reoriginated', 'refused'],
  event_stream_reason: ['no_epoch', 'protocol_never_resumes'],
  event_stream_load_level: ['low', 'high'],
};
const REORIGINATIONS = {
  event_stream_protocol_name: ['sse', 'orders'],
  event_stream_reason: ['epoch_changed', 'window_exceeded'],
  event_stream_load_level: ['low', 'high'],
};
const GAPS = {
  event_stream_protocol_name: ['sse', 'orders'],
  event_stream_gap_source: ['reconnect', 'migration'],
  event_stream_load_level: ['low', 'high'],
};

/** Labels of each metric and what they can be; `job` and `instance` come with the scrape. */
const METRICS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  event_stream_client_reconnects_total: RECONNECTS,
  event_stream_server_reconnects_total: RECONNECTS,
  event_stream_client_reoriginations_total: REORIGINATIONS,
  event_stream_server_reoriginations_total: REORIGINATIONS,
  event_stream_client_gaps_total: GAPS,
  event_stream_server_gaps_total: GAPS,
  event_stream_client_duplicate_events_total: {
    event_stream_protocol_name: ['sse', 'orders'],
    event_stream_load_level: ['low', 'high'],
  },
  event_stream_migrations_total: {
    event_stream_protocol_name: ['sse', 'websocket'],
    event_stream_migration_from: ['sse', 'orders'],
    event_stream_migration_to: ['websocket', 'orders'],
    event_stream_migration_outcome: ['lossy', 'replayed'],
  },
  event_stream_instrumentation_errors_total: { event_stream_reason: ['decoder', 'config'] },
};

const PROTOCOL = 'event_stream_protocol_name';
const REASON = 'event_stream_reason';
const LEVEL = 'event_stream_load_level';

const isJudged = (labels: Labels): boolean =>
  labels['event_stream_classification'] !== 'refused' &&
  labels['event_stream_reason'] !== 'protocol_never_resumes';

const OF_BOTH_ENDS: ReadonlyArray<readonly [record: string, metric: string, Partial<Sum>]> = [
  ['reoriginations:increase5m', 'reoriginations', { by: [PROTOCOL] }],
  ['reoriginations:increase15m', 'reoriginations', { by: [PROTOCOL, REASON] }],
  ['reoriginations:increase1h', 'reoriginations', { by: [PROTOCOL, LEVEL] }],
  ['gaps:increase15m', 'gaps', { by: [PROTOCOL, 'event_stream_gap_source'] }],
  ['reconnects:increase5m', 'reconnects', { by: [PROTOCOL] }],
  ['reconnects:increase1h', 'reconnects', { by: [PROTOCOL, LEVEL] }],
  ['judged_reconnects:increase5m', 'reconnects', { by: [PROTOCOL], counts: isJudged }],
  [
    'unverifiable_reconnects:increase30m',
    'reconnects',
    {
      by: [PROTOCOL],
      counts: (labels) => labels['event_stream_classification'] === 'unverifiable',
    },
  ],
  [
    'answered_reconnects:increase30m',
    'reconnects',
    { by: [PROTOCOL], counts: (labels) => labels['event_stream_classification'] !== 'refused' },
  ],
];

/** Every rule of this kind. */
export const SUMS: readonly Sum[] = [
  ...OF_BOTH_ENDS.flatMap(([name, counter, rest]) =>
    (['client', 'server'] as const).map((role) => ({
      record: `job:event_stream_${name}`,
      role,
      metric: `event_stream_${role}_${counter}_total`,
      window: windowOf(name),
      by: [],
      ...rest,
    })),
  ),
  {
    record: 'job:event_stream_duplicate_events:increase15m',
    role: 'client',
    metric: 'event_stream_client_duplicate_events_total',
    window: 15,
    by: [PROTOCOL],
  },
  {
    record: 'job:event_stream_migrations:increase15m',
    metric: 'event_stream_migrations_total',
    window: 15,
    by: ['from', 'to', 'outcome'].map((part) => `event_stream_migration_${part}`),
  },
  {
    record: 'job:event_stream_instrumentation_errors:increase15m',
    metric: 'event_stream_instrumentation_errors_total',
    window: 15,
    by: [REASON],
  },
];

function windowOf(name: string): number {
  const [, count, unit] = /(\d+)([mh])$/.exec(name) ?? [];
  return Number(count) * (unit === 'h' ? 60 : 1);
}

/** One series, and one more for each other value of each label; weights by which sums can be told. */
function seriesOf(metric: string): ReadonlyArray<readonly [Labels, weight: number]> {
  const places = Object.entries({ job: ['a', 'b'], instance: ['1', '2'], ...METRICS[metric] });
  const first: Labels = Object.fromEntries(places.map(([label, [value = '']]) => [label, value]));
  const others = places.flatMap(([label, [, ...values]]) =>
    values.map((value) => ({ ...first, [label]: value })),
  );
  return [first, ...others].map((labels, index) => [labels, 2 ** index]);
}

function asSeries(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(', ')}}`;
}

/** What the rule has to say if each of its series has grown by `share` of its weight. */
function expected(sum: Sum, share: 0 | 1): Record<string, number> {
  const { record, role, metric, by, counts = () => true } = sum;
  const sums: Record<string, number> = {};
  for (const [labels, weight] of seriesOf(metric)) {
    if (!counts(labels)) continue;
    const kept = Object.fromEntries(['job', ...by].map((label) => [label, labels[label] ?? '']));
    const name = asSeries(record, { ...kept, ...(role && { event_stream_role: role }) });
    sums[name] = (sums[name] ?? 0) + weight * share;
  }
  return sums;
}

interface Behaviour {
  readonly name: string;
  /** In the notation of promtool. */
  readonly values: (weight: number) => string;
  /** Minutes, and whether the growth is seen then. */
  readonly seen: (window: number) => ReadonlyArray<readonly [at: number, share: 0 | 1]>;
  /** Only for rules of this window. */
  readonly window?: number;
}

/** Minute of the change. */
const AT = 10;

const IN_EVERY_WINDOW: readonly Behaviour[] = [
  {
    name: 'grows: seen for as long as the window is, and no longer',
    values: (weight) => `0x${AT - 1} ${weight}x70`,
    seen: (window) => [
      [AT + window - 2, 1],
      [AT + window + 1, 0],
    ],
  },
  {
    name: 'begins: all of it is new, for as long as the window is',
    values: (weight) => `_x${AT} ${weight}x70`,
    seen: (window) => [
      [AT, 1],
      [AT + window - 1, 1],
      [AT + window + 1, 0],
    ],
  },
  {
    name: 'grows before its process begins anew: seen',
    values: (weight) => `0x${AT - 1} ${weight} 0x70`,
    seen: (window) => [[AT + window - 2, 1]],
  },
  {
    name: 'stays as it is: nothing',
    values: (weight) => `${weight}x70`,
    seen: (window) => [[window + 5, 0]],
  },
];

/** Lost so many minutes before the window began that ends one minute after its return. */
function away(window: number, gap: number): Pick<Behaviour, 'window' | 'values' | 'seen'> {
  const here = 80 - gap;
  const back = here + gap + window;
  return {
    window,
    values: (weight) => `${weight}x${here} _x${back - here - 2} ${weight}x5`,
    seen: () => [[back, gap < 60 ? 0 : 1]],
  };
}

const BEHAVIOURS: readonly Behaviour[] = [
  ...IN_EVERY_WINDOW,
  ...[5, 15, 30, 60].flatMap((window): Behaviour[] => [
    { name: `comes back within the hour before ${window} minutes: nothing`, ...away(window, 40) },
    { name: `comes back after an hour before ${window} minutes: is new`, ...away(window, 75) },
  ]),
];

export const SUM_TESTS: readonly RuleTest[] = BEHAVIOURS.map(({ name, window, values, seen }) => {
  const sums = SUMS.filter((sum) => window === undefined || sum.window === window);
  const metrics = [...new Set(sums.map(({ metric }) => metric))];
  return {
    name: `what ${name}`,
    rules: ['recording'],
    series: Object.fromEntries(
      metrics.flatMap((metric) =>
        seriesOf(metric).map(([labels, weight]) => [asSeries(metric, labels), values(weight)]),
      ),
    ),
    expect: sums.flatMap((sum) => {
      const { record, role } = sum;
      const expr = role === undefined ? record : `${record}{event_stream_role="${role}"}`;
      return seen(sum.window).map(([at, share]) => ({ expr, at, is: expected(sum, share) }));
    }),
  };
});
