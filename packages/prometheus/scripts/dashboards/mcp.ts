import type { Board } from './panels.ts';
import { lines } from './panels.ts';
import { each, legend, quantile, rate, series, sum } from './queries.ts';

const CLASSIFICATION = 'event_stream.classification';
const PROTOCOL = 'event_stream.protocol.name';
const REASON = 'event_stream.reason';
/** The names that the profiles of MCP have, one for each era of the protocol. */
const MCP = { [PROTOCOL]: '/mcp.*/' };

const share = (end: string, classification: string): string => {
  const some = series(`event_stream.${end}.reconnects`, {
    ...MCP,
    [CLASSIFICATION]: classification,
  });
  const all = series(`event_stream.${end}.reconnects`, MCP);
  return `${sum(rate(some), PROTOCOL)} / ${sum(rate(all), PROTOCOL)}`;
};

export const MCP_BY_ERA: Board = {
  name: 'mcp',
  title: 'MCP by era',
  description:
    'Revisions of the Model Context Protocol differ in what a reconnect can prove; each has a name of its own.',
  panels: [
    ...(['client', 'server'] as const).flatMap((end) => [
      lines({
        title: `Reconnects by era and verdict, ${end}s`,
        description:
          'Without an event store that says more, resumption cannot be proven on the wire.',
        queries: [
          {
            expr: sum(
              each(series(`event_stream.${end}.reconnects`, MCP)),
              PROTOCOL,
              CLASSIFICATION,
            ),
            legend: legend(PROTOCOL, CLASSIFICATION),
          },
        ],
        bars: true,
        exemplars: true,
      }),
      lines({
        title: `Unverifiable share by era, ${end}s`,
        description: 'Falls when servers stamp Stream-Continuity.',
        unit: 'percentunit',
        max: 1,
        queries: [{ expr: share(end, 'unverifiable'), legend: legend(PROTOCOL) }],
      }),
    ]),
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
      title: 'Outage by era, 95th percentile',
      description: 'Servers that end streams on purpose (retry) make short ones.',
      unit: 's',
      queries: [
        {
          expr: quantile(0.95, 'event_stream.client.outage.duration', PROTOCOL),
          legend: legend(PROTOCOL),
        },
      ],
    }),
    lines({
      title: 'Open streams by era',
      description: 'How far the move to a newer revision is.',
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
