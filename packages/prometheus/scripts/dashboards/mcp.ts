import { labelName } from '../../src/names.ts';
import type { Board } from './panels.ts';
import { lines } from './panels.ts';
import { buckets, each, legend, rate, series, spans, sum } from './queries.ts';

const CLASSIFICATION = 'event_stream.classification';
const PROTOCOL = 'event_stream.protocol.name';
const REASON = 'event_stream.reason';
const ERA = 'event_stream.mcp.era';
const MCP = { [PROTOCOL]: '/mcp.*/' };

/** Verdicts are on the connect and accept spans; of MCP are those that have an era. */
const verdicts = (classification: string) =>
  spans({
    [labelName(ERA)]: '.+',
    [labelName(CLASSIFICATION)]: classification,
    span_name: 'sse (connect|accept)',
  });

const share = (end: string): string => {
  const some = series(`event_stream.${end}.reconnects`, {
    ...MCP,
    [CLASSIFICATION]: 'unverifiable',
  });
  return `${sum(rate(some))} / ${sum(rate(series(`event_stream.${end}.reconnects`, MCP)))}`;
};

export const MCP_BY_ERA: Board = {
  name: 'mcp',
  title: 'MCP by era',
  description: 'Revisions of the Model Context Protocol differ in what a reconnect can prove.',
  panels: [
    lines({
      title: 'Reconnects by era and verdict',
      description:
        'From spans, as the gateway of the recipe counts them: the era is on no counter. Stateless revisions have no resumption.',
      queries: [
        {
          expr: sum(each(verdicts('.+')), ERA, CLASSIFICATION),
          legend: legend(ERA, CLASSIFICATION),
        },
      ],
      bars: true,
    }),
    lines({
      title: 'Unverifiable share by era',
      description: 'Falls when servers of the era with sessions prove their replays. From spans.',
      unit: 'percentunit',
      max: 1,
      queries: [
        {
          expr: `${sum(rate(verdicts('unverifiable')), ERA)} / ${sum(rate(verdicts('.+')), ERA)}`,
          legend: legend(ERA),
        },
      ],
    }),
    ...(['client', 'server'] as const).map((end) =>
      lines({
        title: `Reconnects by verdict, ${end}s`,
        description:
          'Without an event store that says more, resumption cannot be proven on the wire.',
        queries: [
          {
            expr: sum(each(series(`event_stream.${end}.reconnects`, MCP)), CLASSIFICATION),
            legend: legend(CLASSIFICATION),
          },
        ],
        bars: true,
        exemplars: true,
      }),
    ),
    lines({
      title: 'Unverifiable share',
      description: 'At each end. Falls when servers stamp Stream-Continuity.',
      unit: 'percentunit',
      max: 1,
      queries: ['client', 'server'].map((end) => ({ expr: share(end), legend: end })),
    }),
    lines({
      title: 'Re-originations by reason',
      description: 'By-design ones, where a revision has no resumption, are left out.',
      queries: ['client', 'server'].map((end) => ({
        expr: sum(each(series(`event_stream.${end}.reoriginations`, MCP)), REASON),
        legend: `${end} ${legend(REASON)}`,
      })),
      bars: true,
      exemplars: true,
    }),
    lines({
      title: 'Outage, 95th percentile',
      description: 'Servers that end streams on purpose (retry) make short ones.',
      unit: 's',
      queries: [
        {
          expr: `histogram_quantile(0.95, ${sum(rate(buckets('event_stream.client.outage.duration', MCP)), 'le')})`,
          legend: '95 %',
        },
      ],
    }),
    lines({
      title: 'Open streams',
      description: 'Standalone streams and answers to requests alike.',
      queries: ['client', 'server'].map((end) => ({
        expr: sum(series(`event_stream.${end}.connection.active`, MCP), PROTOCOL),
        legend: `${end} ${legend(PROTOCOL)}`,
      })),
    }),
    lines({
      title: 'Events missed and delivered twice',
      description: 'A notification twice may be a tool that ran twice.',
      queries: ['client', 'server'].flatMap((end) => [
        {
          expr: sum(each(series(`event_stream.${end}.missed_events`, MCP))),
          legend: `${end} missed`,
        },
        {
          expr: sum(each(series(`event_stream.${end}.duplicate_events`, MCP))),
          legend: `${end} twice`,
        },
      ]),
      bars: true,
    }),
  ],
};
