import type { Board } from './panels.ts';
import { lines, number } from './panels.ts';
import { each, inRange, legend, quantile, rate, series, sum } from './queries.ts';

const CLASSIFICATION = 'event_stream.classification';
const REASON = 'event_stream.reason';
const SOURCE = 'event_stream.gap.source';
const PROTOCOL = 'event_stream.protocol.name';

const reconnects = (end: string) => series(`event_stream.${end}.reconnects`);

/** Share of the reconnects of which nothing is proven. */
function unverifiableShare(end: string): string {
  const unproven = series(`event_stream.${end}.reconnects`, { [CLASSIFICATION]: 'unverifiable' });
  return `${sum(inRange(unproven))} / ${sum(inRange(reconnects(end)))}`;
}

export const CONTINUITY: Board = {
  name: 'continuity',
  title: 'Continuity',
  description: 'Did reconnects continue the stream that the client believes it is reading?',
  panels: [
    ...(['client', 'server'] as const).flatMap((end) => [
      number({
        title: `Re-originated, ${end}s`,
        description: 'Reconnects that were given another stream than the one asked for.',
        expr: sum(inRange(series(`event_stream.${end}.reoriginations`))),
      }),
      number({
        title: `Events missed, ${end}s`,
        description: 'Events that are proven lost. A loss of unknown size adds nothing.',
        expr: sum(inRange(series(`event_stream.${end}.missed_events`))),
      }),
      number({
        title: `Unverifiable, ${end}s`,
        description: 'Share of the reconnects of which nothing is proven, either way.',
        unit: 'percentunit',
        expr: unverifiableShare(end),
      }),
    ]),
    ...(['client', 'server'] as const).flatMap((end) => [
      lines({
        title: `Reconnects by verdict, ${end}s`,
        description: 'An exemplar is one reconnect: click it for its trace, with both ends in it.',
        queries: [
          { expr: sum(each(reconnects(end)), CLASSIFICATION), legend: legend(CLASSIFICATION) },
        ],
        bars: true,
        exemplars: true,
      }),
      lines({
        title: `Re-originations by reason, ${end}s`,
        description: 'Why each was not the stream that it was asked for.',
        queries: [
          {
            expr: sum(each(series(`event_stream.${end}.reoriginations`)), REASON),
            legend: legend(REASON),
          },
        ],
        bars: true,
        exemplars: true,
      }),
    ]),
    lines({
      title: 'Events missed',
      description:
        'By where the hole is: between two connections, in one, or between two transports.',
      queries: ['client', 'server'].map((end) => ({
        expr: sum(each(series(`event_stream.${end}.missed_events`)), SOURCE),
        legend: `${end} ${legend(SOURCE)}`,
      })),
      bars: true,
      exemplars: true,
    }),
    lines({
      title: 'Events delivered twice',
      description: 'Received a second time by clients; sent again by servers.',
      queries: ['client', 'server'].map((end) => ({
        expr: sum(each(series(`event_stream.${end}.duplicate_events`))),
        legend: end,
      })),
      bars: true,
      exemplars: true,
    }),
    lines({
      title: 'Outage, 95th percentile',
      description: 'From the end of the last connection that was up to the verdict of the next.',
      unit: 's',
      queries: [
        {
          expr: quantile(0.95, 'event_stream.client.outage.duration', CLASSIFICATION),
          legend: legend(CLASSIFICATION),
        },
      ],
    }),
    lines({
      title: 'Open streams',
      description:
        'A cliff on all lines at once is a deploy or a balancer; the storm comes after it.',
      queries: ['client', 'server'].map((end) => ({
        expr: sum(series(`event_stream.${end}.connection.active`), PROTOCOL),
        legend: `${end} ${legend(PROTOCOL)}`,
      })),
    }),
    lines({
      title: 'Events per second',
      description: 'What came and what was sent.',
      queries: [
        { expr: sum(rate(series('event_stream.client.received_events'))), legend: 'received' },
        { expr: sum(rate(series('event_stream.server.sent_events'))), legend: 'sent' },
      ],
    }),
    lines({
      title: 'Failures of the instrumentation',
      description: 'Ours. The application never notices them; verdicts are missing from then on.',
      queries: [
        {
          expr: sum(each(series('event_stream.instrumentation.errors')), REASON),
          legend: legend(REASON),
        },
      ],
      bars: true,
    }),
  ],
};
