import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { StreamRequest } from '@sameriver/core';
import { createClientTimeline, createServerTimeline } from '@sameriver/core';
import { expect, test } from 'vitest';
import { moved, telemetry } from '../test/harness.ts';

const start = { context: ROOT_CONTEXT };

function request(origin: string, cursor?: string): StreamRequest {
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (cursor !== undefined) headers['last-event-id'] = cursor;
  const header = (name: string) => headers[name];
  return { transport: 'sse', method: 'GET', origin, target: '/events', header };
}

const sse = (name: string) => (name === 'content-type' ? 'text/event-stream' : undefined);

test('R7: a client that asked for what follows 4118 and got 13 sees it in every signal', async () => {
  const t = telemetry();
  const timeline = createClientTimeline({ observer: t.recorder });
  const read = (at: number, cursor: string | undefined, text: string) => {
    const connection = timeline.open(request('http://127.0.0.1:1', cursor), at);
    t.recorder.opened(connection, start);
    connection.response(200, sse);
    connection.pushString(text);
    return connection;
  };
  const first = read(0, undefined, 'id: 4117\ndata: a\n\nid: 4118\ndata: b\n\n');
  t.now += 500;
  first.end('reset', 500);
  t.now += 1_000;
  const second = read(1_500, '4118', 'id: 13\ndata: c\n\nid: 14\ndata: d\n\n');
  t.now += 500;
  second.end('eof', 2_000);

  const [, span] = t.spans().filter(({ name }) => name === 'sse connect');
  expect(span?.attributes).toMatchObject({
    'event_stream.classification': 'reoriginated',
    'event_stream.reason': 'cursor_not_advanced',
    'event_stream.cursor.requested': '4118',
    'event_stream.cursor.first': '13',
    'event_stream.connection.ordinal': 1,
  });
  expect(await moved(t.reader, 'event_stream.client.reoriginations')).toEqual({
    'load.level=low,reason=cursor_not_advanced': 1,
  });
  expect(await moved(t.reader, 'event_stream.client.received_events')).toEqual({ '': 4 });
  expect(await moved(t.reader, 'event_stream.client.outage.duration')).toEqual({
    'classification=reoriginated': 1,
  });
  expect(t.logs.getFinishedLogRecords().map(({ eventName }) => eventName)).toEqual([
    'event_stream.disconnect',
    'event_stream.reconnect',
    'event_stream.disconnect',
  ]);
});

test('V5: a server that skips what it wrote after the cursor says how many', async () => {
  const t = telemetry();
  const timeline = createServerTimeline({ observer: t.recorder });
  const write = (at: number, cursor: string | undefined, ids: readonly number[]) => {
    const connection = timeline.open(request('', cursor), at);
    t.recorder.opened(connection, start);
    connection.response(200, sse);
    for (const id of ids) connection.pushString(`id: ${id}\ndata: event ${id}\n\n`);
    return connection;
  };
  write(0, undefined, [1, 2, 3, 4, 5]).end('reset', 100);
  write(200, '2', [5]).end('eof', 300);
  const [, span] = t.spans().filter(({ name }) => name === 'sse accept');
  expect(span?.attributes).toMatchObject({
    'event_stream.role': 'server',
    'event_stream.classification': 'reoriginated',
    'event_stream.reason': 'window_exceeded',
    'event_stream.missed': 2,
  });
  expect(await moved(t.reader, 'event_stream.server.missed_events')).toEqual({
    'gap.source=reconnect,load.level=low': 2,
  });
  expect(await moved(t.reader, 'event_stream.server.sent_events')).toEqual({ '': 6 });
});
