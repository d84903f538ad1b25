import { expect, test } from 'vitest';
import { findingOf, wrongVerdicts } from './findings.ts';

const span = {
  service: 'mcp-server-a',
  name: 'sse accept',
  traceId: '0',
  attributes: {
    'event_stream.classification': 'reoriginated',
    'event_stream.reason': 'window_exceeded',
    'event_stream.cursor.requested': '4318',
    'event_stream.cursor.first': '4619',
    'event_stream.missed': 300,
    'event_stream.duplicates': 0,
    'event_stream.epoch': '57d436e1b1b2b3b4',
    'event_stream.load.level': 'high',
    'event_stream.load.event_loop_utilization': 0.9493,
  },
};

test('a span is told in the words of a table', () => {
  expect(findingOf('server', span)).toEqual({
    role: 'server',
    classification: 'reoriginated',
    reason: 'window_exceeded',
    epoch: '57d436e1',
    cursors: '4318 > 4619',
    missed: '300',
    repeated: '0',
    load: 'high 95%',
  });
});

test('what a span does not say is unknown, never 0', () => {
  const { missed, epoch } = findingOf('client', { ...span, attributes: {} });
  expect({ missed, epoch }).toEqual({ missed: 'unknown', epoch: 'unknown' });
});

test('a verdict that is not the right one is named, with what was expected', () => {
  const found = findingOf('server', span);
  const what = 'third drop';
  const right = { what, found, classification: 'reoriginated', missed: '300' };
  expect(wrongVerdicts([right])).toEqual([]);
  expect(wrongVerdicts([right, { what, found, classification: 'resumed', missed: '1' }])).toEqual([
    'third drop, server: classification is reoriginated, expected resumed',
    'third drop, server: missed is 300, expected 1',
  ]);
});
