import type { Firing } from './alerting.ts';
import { CLIENT_LABELS, firing, OF_CLIENTS, told } from './alerting.ts';
import type { RuleTest } from './promtool.ts';

interface Burn {
  /** Windows. */
  readonly long: string;
  readonly short: string;
  readonly rate: number;
  /** Minutes. */
  readonly for: number;
  readonly minutes: number;
  readonly every: number;
  readonly severity: string;
  readonly budget: string;
}

const BURNS: readonly Burn[] = [
  {
    long: '1h',
    short: '5m',
    rate: 0.0144,
    for: 2,
    minutes: 60,
    every: 1,
    severity: 'critical',
    budget: 'At this rate the budget of 30 days is gone in 2 days.',
  },
  {
    long: '6h',
    short: '30m',
    rate: 0.006,
    for: 15,
    minutes: 360,
    every: 5,
    severity: 'critical',
    budget: 'At this rate the budget of 30 days is gone in 5 days.',
  },
  {
    long: '3d',
    short: '6h',
    rate: 0.001,
    for: 60,
    minutes: 4_320,
    every: 60,
    severity: 'warning',
    budget: 'At this rate nothing of the budget of 30 days is left at its end.',
  },
];

const ratioOf = (window: string): string =>
  `job:event_stream_reoriginations_per_judged_reconnect:ratio_avg${window}{${OF_CLIENTS}}`;
const JUDGED = `job:event_stream_judged_reconnects:increase5m{${OF_CLIENTS}}`;

type BurnCase = readonly [name: string, series: RuleTest['series'], fires: Firing];

function casesOf(burn: Burn): readonly BurnCase[] {
  const { long, short, rate, minutes, every } = burn;
  const steps = minutes / every;
  /** Reconnects of five minutes of which the long window has a hundred. */
  const enough = 500 / minutes;
  const steady = (value: number): string => `${value}x${4 * steps}`;
  const both = (above: number, below: number, judged: string): RuleTest['series'] => ({
    [ratioOf(long)]: steady(rate * above),
    [ratioOf(short)]: steady(rate * below),
    [JUDGED]: judged,
  });
  const later = 3 * minutes;
  return [
    [
      're-originations in both windows',
      both(1.01, 1.01, steady(enough * 1.01)),
      [
        [burn.for - every, 0],
        [burn.for, 1],
      ],
    ],
    ['too few in the long one', both(0.99, 1.01, steady(100)), [[later, 0]]],
    ['too few in the short one', both(1.01, 0.99, steady(100)), [[later, 0]]],
    ['not a hundred reconnects', both(1.01, 1.01, steady(enough * 0.99)), [[later, 0]]],
    [
      'not a hundred reconnects, though there were moments with many',
      both(1.01, 1.01, `0x${3 * steps - 2} ${enough * 3}x4`),
      [[later + every, 0]],
    ],
    [
      'a hundred reconnects before the long window',
      both(1.01, 1.01, `100x${2 * steps - 2} ${enough * 0.9}x${2 * steps}`),
      [[later, 0]],
    ],
    [
      'a hundred reconnects at its beginning',
      both(1.01, 1.01, `0x${2 * steps} ${enough * 3}x${steps / 2} 0x${steps}`),
      [[later, 1]],
    ],
  ];
}

function burning(burn: Burn): RuleTest[] {
  return casesOf(burn).map(([name, series, fires]) => ({
    name: `ErrorBudgetBurn over ${burn.long}: ${name}`,
    series,
    every: burn.every,
    expect: firing('ErrorBudgetBurn', fires),
  }));
}

/** The burn rates of all three pairs of windows. */
export const BURN_TESTS: readonly RuleTest[] = [
  ...BURNS.flatMap(burning),
  ...BURNS.map(({ long, short, rate, every, severity, budget, for: wait }): RuleTest => {
    const share = `${(rate * 200).toPrecision(4)}`.replace(/\.?0+$/, '');
    return {
      name: `ErrorBudgetBurn over ${long} says how much burns`,
      series: {
        [ratioOf(long)]: `${rate * 2}x9`,
        [ratioOf(short)]: `${rate * 2}x9`,
        [JUDGED]: '100x9',
      },
      every,
      alerts: [
        told(
          'EventStreamErrorBudgetBurn',
          wait,
          { ...CLIENT_LABELS, severity, long_window: long },
          'The error budget of continuity is burning.',
          `orders (client side, sse): ${share}% of the reconnects of ${long} were re-originated; 0.1% is the objective. ${budget}`,
        ),
      ],
    };
  }),
];
