import { expect, test } from 'vitest';
import type { Sample } from '../counters.ts';
import { curveOf, levelsOf, ratio, total } from './curve.ts';

const HISTOGRAM = 'event_stream_reconnect_event_loop_utilization_bucket';
const RECONNECTS = 'event_stream_server_reconnects_total';

function bucket(le: string, classification: string, value: number, role = 'server'): Sample {
  const labels = { le, event_stream_role: role, event_stream_classification: classification };
  return { service: 'a', metric: HISTOGRAM, labels, value };
}

function counted(level: string, classification: string, value: number): Sample {
  const labels = {
    event_stream_load_level: level,
    event_stream_classification: classification,
  };
  return { service: 'a', metric: RECONNECTS, labels, value };
}

test('cumulative buckets become a curve: each stretch of load with what happened in it', () => {
  const samples = [
    ...[bucket('0.1', 'resumed', 8), bucket('0.2', 'resumed', 8), bucket('+Inf', 'resumed', 9)],
    ...[bucket('0.1', 'reoriginated', 2), bucket('0.2', 'reoriginated', 2)],
    bucket('+Inf', 'reoriginated', 5),
    bucket('+Inf', 'reoriginated', 100, 'client'),
  ];
  expect(curveOf(samples)).toEqual([
    { name: '0 to 0.1', reconnects: 10, reoriginated: 2 },
    { name: '0.2 to 1', reconnects: 4, reoriginated: 3 },
  ]);
});

test('buckets of several processes and protocols add up', () => {
  const samples = [bucket('+Inf', 'reoriginated', 1), bucket('+Inf', 'reoriginated', 2)];
  expect(curveOf(samples)).toEqual([{ name: '0 to 1', reconnects: 3, reoriginated: 3 }]);
});

test('levels come in the order of rising load, with all classifications below the line', () => {
  const samples = [
    counted('high', 'reoriginated', 3),
    counted('high', 'unverifiable', 1),
    counted('low', 'resumed', 5),
  ];
  expect(levelsOf(samples)).toEqual([
    { name: 'low', reconnects: 5, reoriginated: 0 },
    { name: 'elevated', reconnects: 0, reoriginated: 0 },
    { name: 'high', reconnects: 4, reoriginated: 3 },
  ]);
});

test('where nothing came back there is no ratio, and not a ratio of 0', () => {
  expect(ratio({ name: 'low', reconnects: 0, reoriginated: 0 })).toBeUndefined();
  expect(ratio({ name: 'low', reconnects: 4, reoriginated: 1 })).toBe(0.25);
});

test('a total takes only samples that have all the labels', () => {
  const samples = [counted('high', 'reoriginated', 3), counted('low', 'resumed', 5)];
  expect(total(samples, RECONNECTS)).toBe(8);
  expect(total(samples, RECONNECTS, { event_stream_classification: 'resumed' })).toBe(5);
});
