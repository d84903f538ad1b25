import { ROOT_CONTEXT } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import type { FakeConnection, Telemetry } from '../test/harness.ts';
import {
  BY_DESIGN,
  connection,
  REFUSED,
  REORIGINATED,
  RESUMED,
  report,
  telemetry,
  UNVERIFIABLE,
} from '../test/harness.ts';
import type { EventLogger } from './types.ts';

const start = { context: ROOT_CONTEXT };

function reconnect(t: Telemetry, facts: Partial<FakeConnection> = {}): FakeConnection {
  const one = connection({ ordinal: 1, ...facts });
  t.recorder.opened(one, start);
  return one;
}

function records({ logs }: Telemetry) {
  return logs.getFinishedLogRecords();
}

function named(t: Telemetry) {
  return records(t).map(({ eventName, severityNumber, severityText }) => [
    eventName,
    severityNumber,
    severityText,
  ]);
}

describe('log records', () => {
  test.each([
    [RESUMED, 9, 'INFO'],
    [UNVERIFIABLE, 9, 'INFO'],
    [BY_DESIGN, 9, 'INFO'],
    [REORIGINATED, 13, 'WARN'],
    [REFUSED, 13, 'WARN'],
  ])('the severity of %o is %i', (verdict, number, text) => {
    const t = telemetry();
    t.recorder.settled(reconnect(t), report({ verdict }));
    expect(named(t)).toEqual([['event_stream.reconnect', number, text]]);
  });

  test('of a reconnect have the evidence, the trace and the connect span', () => {
    const t = telemetry();
    t.recorder.settled(reconnect(t), report({ verdict: REORIGINATED, firstCursor: '13' }));
    const [record] = records(t);
    expect(record?.spanContext?.spanId).toBe(t.span('sse connect').spanContext().spanId);
    expect(record?.attributes).toMatchObject({
      'event_stream.protocol.name': 'sse',
      'event_stream.role': 'client',
      'event_stream.classification': 'reoriginated',
      'event_stream.reason': 'cursor_not_advanced',
      'event_stream.cursor.first': '13',
      'event_stream.load.level': 'low',
    });
    expect(record?.body).toBeUndefined();
  });

  test('R16: of a revision say so', () => {
    const t = telemetry();
    const one = reconnect(t);
    t.recorder.settled(one, report({ verdict: UNVERIFIABLE }));
    t.recorder.revised(one, report({ verdict: REORIGINATED, revised: true }));
    expect(records(t).map(({ attributes }) => attributes['event_stream.revised'])).toEqual([
      undefined,
      true,
    ]);
  });

  test('of gaps have their source, their size when it is proven, and what proved them', () => {
    const t = telemetry();
    const one = reconnect(t);
    t.recorder.settled(one, report({ verdict: REORIGINATED, missed: 22 }));
    t.recorder.inStream(one, { kind: 'epoch_changed', missed: 'unknown' });
    const gaps = records(t).filter(({ eventName }) => eventName === 'event_stream.gap');
    expect(gaps.map(({ severityNumber }) => severityNumber)).toEqual([17, 17]);
    expect(gaps.map(({ attributes }) => attributes)).toEqual([
      {
        'event_stream.protocol.name': 'sse',
        'event_stream.role': 'client',
        'event_stream.gap.source': 'reconnect',
        'event_stream.reason': 'cursor_not_advanced',
        'event_stream.missed': 22,
      },
      {
        'event_stream.protocol.name': 'sse',
        'event_stream.role': 'client',
        'event_stream.gap.source': 'in_stream',
        'event_stream.reason': 'epoch_changed',
      },
    ]);
  });

  test('of an end tell how, and what came twice', () => {
    const t = telemetry();
    const first = connection();
    t.recorder.opened(first, start);
    t.recorder.settled(first, report());
    const final = report({ duplicates: 6, atLeast: true, lastCursor: '41' });
    t.recorder.ended(first, 'close:1006', [final]);
    expect(records(t).map(({ eventName, attributes }) => [eventName, attributes])).toEqual([
      [
        'event_stream.duplicates',
        {
          'event_stream.protocol.name': 'sse',
          'event_stream.role': 'client',
          'event_stream.duplicates': 6,
          'event_stream.duplicates.at_least': true,
        },
      ],
      [
        'event_stream.disconnect',
        {
          'event_stream.protocol.name': 'sse',
          'event_stream.role': 'client',
          'event_stream.disconnect.reason': 'close_abnormal',
          'event_stream.cursor.last': '41',
        },
      ],
    ]);
  });

  test('of a first connection there are none', () => {
    const t = telemetry();
    const first = connection();
    t.recorder.opened(first, start);
    t.recorder.settled(first, report());
    expect(records(t)).toEqual([]);
  });

  test('of a refused connection are its verdict alone', () => {
    const t = telemetry();
    const one = reconnect(t);
    t.recorder.settled(one, report({ verdict: REFUSED, missed: 0, duplicates: 0 }));
    t.recorder.ended(one, 'eof', [report({ verdict: REFUSED, missed: 0, duplicates: 0 })]);
    expect(named(t).map(([name]) => name)).toEqual(['event_stream.reconnect']);
  });

  test('are limited for each stream over its reconnects, and for no other stream', () => {
    const t = telemetry({ eventBudget: { burst: 2, interval: 60_000 } });
    let current = reconnect(t);
    for (let i = 0; i < 10; i += 1) {
      t.recorder.settled(current, report({ verdict: RESUMED }));
      t.recorder.ended(current, 'reset', [report({ verdict: RESUMED })]);
      current = reconnect(t, { previous: current.context });
    }
    expect(records(t)).toHaveLength(2);
    t.recorder.settled(reconnect(t), report({ verdict: RESUMED }));
    expect(records(t)).toHaveLength(3);
    t.now += 60_000;
    t.recorder.settled(current, report({ verdict: RESUMED }));
    expect(records(t)).toHaveLength(4);
  });

  test('of gaps pass where others are held back', () => {
    const t = telemetry({ eventBudget: { burst: 1, interval: 60_000 } });
    const one = reconnect(t);
    t.recorder.settled(one, report({ verdict: REORIGINATED, missed: 1 }));
    t.recorder.revised(one, report({ verdict: REORIGINATED, revised: true }));
    expect(named(t).map(([name]) => name)).toEqual(['event_stream.reconnect', 'event_stream.gap']);
  });

  test('are not built for a logger that is not listening', () => {
    const t = telemetry();
    const emitted: unknown[] = [];
    let asked: unknown;
    const logger: EventLogger = {
      emit: (record) => void emitted.push(record),
      enabled(about) {
        asked = about;
        return false;
      },
    };
    t.recorder.setLogger(logger);
    t.recorder.settled(reconnect(t), report({ verdict: REORIGINATED }));
    expect(emitted).toEqual([]);
    expect(asked).toMatchObject({ eventName: 'event_stream.reconnect', severityNumber: 13 });
  });

  test('reach a logger that cannot be asked', () => {
    const t = telemetry();
    const emitted: unknown[] = [];
    t.recorder.setLogger({ emit: (record) => void emitted.push(record) });
    t.recorder.settled(reconnect(t), report({ verdict: REORIGINATED }));
    expect(emitted).toMatchObject([{ eventName: 'event_stream.reconnect', severityText: 'WARN' }]);
  });
});

describe('where events are told', () => {
  test.each([
    ['log', 1, 0],
    ['span', 0, 1],
    ['both', 1, 1],
    ['off', 0, 0],
  ] as const)('%s: %i log records, %i span events', (events, inLog, onSpan) => {
    const t = telemetry({ events });
    t.recorder.settled(reconnect(t), report({ verdict: REORIGINATED }));
    expect(records(t)).toHaveLength(inLog);
    const names = t.span('sse connect').events.map(({ name }) => name);
    expect(names).toEqual(Array(onSpan).fill('event_stream.reconnect'));
  });

  test('once the connect span has ended, span events go to the HTTP span', () => {
    const t = telemetry({ events: 'span' });
    const one = reconnect(t);
    const http = t.start('GET');
    t.recorder.carriedBy(one, http);
    t.recorder.settled(one, report({ verdict: RESUMED }));
    t.recorder.ended(one, 'reset', [report({ verdict: RESUMED })]);
    http.end();
    expect(t.span('GET').events.map(({ name }) => name)).toEqual(['event_stream.disconnect']);
  });
});
