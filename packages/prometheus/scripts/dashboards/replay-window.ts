import type { Board } from './panels.ts';
import { lines } from './panels.ts';
import { each, legend, quantile, series, sum } from './queries.ts';

const LEVEL = 'event_stream.load.level';
const PROTOCOL = 'event_stream.protocol.name';
const SIZE = 'event_stream.server.replay.size';
const usage = series('event_stream.server.replay_window.usage');
const limit = series('event_stream.server.replay_window.limit');

export const REPLAY_WINDOW: Board = {
  name: 'replay-window',
  title: 'Replay window',
  description: 'Is what servers keep for those who come back enough?',
  panels: [
    lines({
      title: 'Fullest window',
      description:
        'Events held of those that it can hold. A full window is normal; what counts is how far back it reaches.',
      unit: 'percentunit',
      max: 1,
      queries: [{ expr: `${usage} / ${limit}`, legend: `{{instance}} ${legend(PROTOCOL)}` }],
    }),
    lines({
      title: 'Events held, and the limit',
      description: 'A limit that falls under load is a buffer whose memory others want.',
      queries: [
        { expr: usage, legend: 'held {{instance}}' },
        { expr: limit, legend: 'limit {{instance}}' },
      ],
    }),
    lines({
      title: 'Events replayed to one reconnect',
      description: 'Near the limit the next longer outage is a loss.',
      queries: [0.5, 0.95, 0.99].map((share) => ({
        expr: quantile(share, SIZE),
        legend: `${share * 100} %`,
      })),
    }),
    lines({
      title: 'Cursors older than the window',
      description: 'Reconnects that asked for what was no longer there, by the load of the server.',
      queries: [
        {
          expr: sum(
            each(
              series('event_stream.server.reoriginations', {
                'event_stream.reason': 'window_exceeded',
              }),
            ),
            LEVEL,
          ),
          legend: legend(LEVEL),
        },
      ],
      bars: true,
      exemplars: true,
    }),
    lines({
      title: 'Events missed, servers',
      description: 'Written to a stream, gone before its reader came back.',
      queries: [
        {
          expr: sum(each(series('event_stream.server.missed_events')), PROTOCOL),
          legend: legend(PROTOCOL),
        },
      ],
      bars: true,
      exemplars: true,
    }),
    lines({
      title: 'Outage, 50th, 95th and 99th percentile',
      description:
        'How long clients are away. The window has to hold what is written in this time.',
      unit: 's',
      queries: [0.5, 0.95, 0.99].map((share) => ({
        expr: quantile(share, 'event_stream.client.outage.duration'),
        legend: `${share * 100} %`,
      })),
    }),
  ],
};
