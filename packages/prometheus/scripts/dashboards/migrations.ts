import type { Board } from './panels.ts';
import { lines, number } from './panels.ts';
import { each, inRange, legend, series, sum } from './queries.ts';

const FROM = 'event_stream.migration.from';
const TO = 'event_stream.migration.to';
const OUTCOME = 'event_stream.migration.outcome';
const SOURCE = 'event_stream.gap.source';
const migrations = (outcome: string) => series('event_stream.migrations', { [OUTCOME]: outcome });

export const MIGRATIONS: Board = {
  name: 'migrations',
  title: 'Migrations',
  description: 'Do streams that move from server-sent events to a WebSocket arrive whole?',
  panels: [
    ...[
      ['replayed', 'Everything after the cursor that crossed over came first.'],
      [
        'refused',
        'The server declined, because it could not cover the gap. Nothing was lost in silence.',
      ],
      ['lossy', 'What came first does not follow what was processed.'],
      ['unverifiable', 'Nothing proves either. Mostly the cursor did not cross over.'],
    ].map(([outcome = '', description = '']) =>
      number({
        title: outcome,
        description,
        span: 6,
        expr: sum(inRange(migrations(outcome))),
      }),
    ),
    lines({
      title: 'Migrations by outcome',
      description:
        'Streams that went from one transport to another, and those that were refused to.',
      queries: [
        { expr: sum(each(series('event_stream.migrations')), OUTCOME), legend: legend(OUTCOME) },
      ],
      bars: true,
      exemplars: true,
    }),
    lines({
      title: 'Lossy or unverifiable, by direction',
      description: 'From which transport to which.',
      queries: [
        {
          expr: sum(each(migrations('/lossy|unverifiable/')), FROM, TO),
          legend: `{{event_stream_migration_from}} to {{event_stream_migration_to}}`,
        },
      ],
      bars: true,
    }),
    lines({
      title: 'Events missed between two transports',
      description: 'Proven lost on the way, as each end sees it.',
      queries: ['client', 'server'].map((end) => ({
        expr: sum(each(series(`event_stream.${end}.missed_events`, { [SOURCE]: 'migration' }))),
        legend: end,
      })),
      bars: true,
      exemplars: true,
    }),
    lines({
      title: 'Open streams by transport',
      description: 'What left the one should arrive at the other.',
      queries: ['client', 'server'].map((end) => ({
        expr: sum(series(`event_stream.${end}.connection.active`), 'event_stream.protocol.name'),
        legend: `${end} {{event_stream_protocol_name}}`,
      })),
    }),
  ],
};
