import type { Board, Query } from './panels.ts';
import { curve, lines } from './panels.ts';
import { buckets, each, inRange, legend, metric, rate, series, sum } from './queries.ts';

const CLASSIFICATION = 'event_stream.classification';
const LEVEL = 'event_stream.load.level';
const ROLE = 'event_stream.role';
const HISTOGRAM = 'event_stream.reconnect.event_loop_utilization';

/** Reconnects at a utilization between two bounds: buckets are cumulative. */
function between(below: string | undefined, upTo: string, role: string, where: object): string {
  const at = (le: string) => sum(inRange(buckets(HISTOGRAM, { [ROLE]: role, le, ...where })));
  return below === undefined ? at(upTo) : `(${at(upTo)} - ${at(below)})`;
}

/** One query for each bucket of the histogram: share of its reconnects that were re-originated. */
function curveQueries(role: string): Query[] {
  const bounds = [...metric(HISTOGRAM).boundaries.map(String), '+Inf'];
  return bounds.map((upTo, index) => {
    const below = bounds[index - 1];
    const all = between(below, upTo, role, {});
    const lost = between(below, upTo, role, { [CLASSIFICATION]: 'reoriginated' });
    return {
      // Where it never happened there is no series of it, and the share is 0.
      expr: `(${lost} or ${all} * 0) / ${all}`,
      legend: `${below ?? '0'} to ${upTo === '+Inf' ? '1' : upTo}`,
    };
  });
}

function shareByLevel(end: string): string {
  const lost = sum(rate(series(`event_stream.${end}.reoriginations`)), LEVEL);
  return `${lost} / ${sum(rate(series(`event_stream.${end}.reconnects`)), LEVEL)}`;
}

export const LOAD: Board = {
  name: 'load',
  title: 'Load',
  description: 'Does it happen exactly when we are busy?',
  panels: [
    ...(['server', 'client'] as const).map((role) =>
      curve({
        title: `Re-originated share by event-loop utilization, ${role}s`,
        description:
          'Of the reconnects that were judged at this utilization, in the time shown. A curve that rises ' +
          'says that capacity is what is missing: a window, memory, instances.',
        unit: 'percentunit',
        queries: curveQueries(role),
      }),
    ),
    ...(['server', 'client'] as const).flatMap((end) => [
      lines({
        title: `Re-originated share by load level, ${end}s`,
        description: 'low, elevated, high: the limits are set in the services.',
        unit: 'percentunit',
        max: 1,
        queries: [{ expr: shareByLevel(end), legend: legend(LEVEL) }],
      }),
      lines({
        title: `Reconnects by load level, ${end}s`,
        description: 'A share of few reconnects says little.',
        queries: [
          {
            expr: sum(each(series(`event_stream.${end}.reconnects`)), LEVEL),
            legend: legend(LEVEL),
          },
        ],
        bars: true,
      }),
    ]),
    lines({
      title: 'Events missed by load level, servers',
      description: 'What the load cost.',
      queries: [
        {
          expr: sum(each(series('event_stream.server.missed_events')), LEVEL),
          legend: legend(LEVEL),
        },
      ],
      bars: true,
      exemplars: true,
    }),
    lines({
      title: 'Utilization at the verdict, median',
      description: 'How busy the process was that judged, by what it found.',
      unit: 'percentunit',
      max: 1,
      queries: [
        {
          expr: `histogram_quantile(0.5, ${sum(rate(buckets(HISTOGRAM, { [ROLE]: 'server' })), 'le', CLASSIFICATION)})`,
          legend: legend(CLASSIFICATION),
        },
      ],
    }),
  ],
};
