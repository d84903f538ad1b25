import { loopback } from '@sameriver/testkit';
import { expect, test } from 'vitest';
import type { Player } from './cast.ts';
import { reconnectsByLevel, scrape } from './counters.ts';

const SCOPE = 'otel_scope_name="@sameriver/telemetry",otel_scope_version="0.0.0"';

function page(...lines: readonly (readonly [metric: string, labels: string, value: number])[]) {
  return lines
    .map(([metric, labels, value]) => `${metric}{${labels},${SCOPE}} ${value}\n`)
    .join('');
}

async function scraped(text: string) {
  const exporter = await loopback((_request, response) => response.end(text));
  const player = { service: 'a', metrics: exporter.origin } as Player;
  const samples = await scrape([player]);
  await exporter.close();
  return samples;
}

const LABELS = (reason: string, level: string): string =>
  `event_stream_classification="resumed",event_stream_reason="${reason}",event_stream_load_level="${level}"`;

test('counters that alerts are written on are read, without the labels of the scope', async () => {
  const samples = await scraped(
    `# TYPE event_stream_server_missed_events_total counter\n` +
      page(
        ['event_stream_server_missed_events_total', 'event_stream_load_level="high"', 300],
        ['event_stream_server_sent_events_total', 'event_stream_protocol_name="sse"', 9],
      ),
  );
  expect(samples).toEqual([
    {
      service: 'a',
      metric: 'event_stream_server_missed_events_total',
      labels: { event_stream_load_level: 'high' },
      value: 300,
    },
  ]);
});

test('reconnects of one kind stand in one row, split by load; what never happened has none', async () => {
  const metric = 'event_stream_server_reconnects_total';
  const samples = await scraped(
    page(
      [metric, LABELS('replay_observed', 'low'), 2],
      [metric, LABELS('replay_observed', 'high'), 1],
      [metric, LABELS('store_replayed', 'low'), 0],
      ['event_stream_client_reconnects_total', LABELS('cursor_echoed', 'elevated'), 4],
    ),
  );
  expect(reconnectsByLevel(samples)).toEqual([
    { role: 'client', classification: 'resumed', reason: 'cursor_echoed', byLevel: [0, 4, 0] },
    { role: 'server', classification: 'resumed', reason: 'replay_observed', byLevel: [2, 0, 1] },
  ]);
});
