import { createContextKey, ROOT_CONTEXT } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import type { FakeConnection, Telemetry } from '../test/harness.ts';
import {
  BY_DESIGN,
  connection,
  disableRecorders,
  metric,
  metrics,
  moved,
  REFUSED,
  REORIGINATED,
  RESUMED,
  report,
  telemetry,
  UNVERIFIABLE,
} from '../test/harness.ts';
import { tellReplayWindow, toldWindows, watchReplayWindow } from './process-windows.ts';
import { createRecorder } from './recorder.ts';
import { possibleVerdicts } from './verdict-space.ts';

const start = { context: ROOT_CONTEXT };

afterEach(disableRecorders);

function open(t: Telemetry, facts: Partial<FakeConnection> = {}): FakeConnection {
  const one = connection(facts);
  t.recorder.opened(one, start);
  return one;
}

describe('series before anything happens', () => {
  test('every possible verdict of both ends exists with value 0, for every load level', async () => {
    const t = telemetry();
    for (const role of ['client', 'server'] as const) {
      const { dataPoints } = await metric(t.reader, `event_stream.${role}.reconnects`);
      expect(dataPoints).toHaveLength(3 * possibleVerdicts(role, 'sse').length);
      expect(dataPoints.every(({ value }) => value === 0)).toBe(true);
    }
  });

  test('they are those of the transport that the recorder is for', async () => {
    const t = telemetry({ transport: 'websocket', roles: ['client'] });
    const { dataPoints } = await metric(t.reader, 'event_stream.client.connection.active');
    expect(dataPoints.map(({ attributes }) => attributes)).toEqual([
      { 'event_stream.protocol.name': 'websocket' },
    ]);
  });

  test('every counter and up-down counter exists, and no histogram', async () => {
    const t = telemetry();
    const names = (await metrics(t.reader))
      .filter(({ dataPoints }) => dataPoints.length > 0)
      .map(({ descriptor }) => descriptor.name);
    expect(names.sort()).toEqual([
      'event_stream.client.connection.active',
      'event_stream.client.duplicate_events',
      'event_stream.client.gaps',
      'event_stream.client.missed_events',
      'event_stream.client.received_events',
      'event_stream.client.reconnects',
      'event_stream.client.reoriginations',
      'event_stream.instrumentation.errors',
      'event_stream.migrations',
      'event_stream.server.connection.active',
      'event_stream.server.duplicate_events',
      'event_stream.server.gaps',
      'event_stream.server.missed_events',
      'event_stream.server.reconnects',
      'event_stream.server.reoriginations',
      'event_stream.server.sent_events',
    ]);
  });

  test('of a role that is not followed there are none', async () => {
    const t = telemetry({ roles: ['server'] });
    const { dataPoints } = await metric(t.reader, 'event_stream.server.reconnects');
    expect(dataPoints).not.toHaveLength(0);
    await expect(metric(t.reader, 'event_stream.client.reconnects')).rejects.toThrow('no metric');
  });

  test('of another protocol come with its first connection', async () => {
    const t = telemetry();
    open(t, { protocol: 'mercure' });
    const { dataPoints } = await metric(t.reader, 'event_stream.client.reoriginations');
    const mercure = dataPoints.filter(
      ({ attributes }) => attributes['event_stream.protocol.name'] === 'mercure',
    );
    expect(mercure).toHaveLength(24);
  });

  test('re-originations by design are not among them', async () => {
    const t = telemetry();
    const { dataPoints } = await metric(t.reader, 'event_stream.client.reoriginations');
    const reasons = dataPoints.map(({ attributes }) => attributes['event_stream.reason']);
    expect(reasons).toContain('epoch_changed');
    expect(reasons).not.toContain('protocol_never_resumes');
  });
});

describe('reconnects', () => {
  test('are counted by classification, reason and load, and re-originations once more', async () => {
    const t = telemetry();
    for (const verdict of [RESUMED, RESUMED, REORIGINATED, UNVERIFIABLE, REFUSED, BY_DESIGN]) {
      t.recorder.settled(open(t, { ordinal: 1 }), report({ verdict }));
    }
    t.load.pass(1, 4);
    t.recorder.settled(open(t, { ordinal: 1 }), report({ verdict: REORIGINATED }));
    expect(await moved(t.reader, 'event_stream.client.reconnects')).toEqual({
      'classification=resumed,load.level=low,reason=cursor_echoed': 2,
      'classification=reoriginated,load.level=low,reason=cursor_not_advanced': 1,
      'classification=reoriginated,load.level=high,reason=cursor_not_advanced': 1,
      'classification=reoriginated,load.level=low,reason=protocol_never_resumes': 1,
      'classification=unverifiable,load.level=low,reason=no_window': 1,
      'classification=refused,load.level=low,reason=stream_gone': 1,
    });
    expect(await moved(t.reader, 'event_stream.client.reoriginations')).toEqual({
      'load.level=low,reason=cursor_not_advanced': 1,
      'load.level=high,reason=cursor_not_advanced': 1,
    });
    expect(await moved(t.reader, 'event_stream.server.reconnects')).toEqual({});
  });

  test('a first connection is none', async () => {
    const t = telemetry();
    t.recorder.settled(open(t), report());
    expect(await moved(t.reader, 'event_stream.client.reconnects')).toEqual({});
  });

  test('R16: a revision adds a re-origination under the load of its reconnect, and moves nothing', async () => {
    const t = telemetry();
    const second = open(t, { ordinal: 1 });
    t.recorder.settled(second, report({ verdict: UNVERIFIABLE }));
    t.load.pass(1, 4);
    t.recorder.revised(second, report({ verdict: REORIGINATED, revised: true }));
    expect(await moved(t.reader, 'event_stream.client.reconnects')).toEqual({
      'classification=unverifiable,load.level=low,reason=no_window': 1,
    });
    expect(await moved(t.reader, 'event_stream.client.reoriginations')).toEqual({
      'load.level=low,reason=cursor_not_advanced': 1,
    });
  });

  test('R19: each logical stream of a connection is one', async () => {
    const t = telemetry();
    const second = open(t, { ordinal: 1 });
    t.recorder.settled(second, report({ stream: 'a', verdict: RESUMED }));
    t.recorder.settled(second, report({ stream: 'b', verdict: RESUMED }));
    expect(await moved(t.reader, 'event_stream.client.reconnects')).toEqual({
      'classification=resumed,load.level=low,reason=cursor_echoed': 2,
    });
  });

  test('the event loop utilization at the verdict is a histogram', async () => {
    const t = telemetry();
    const second = open(t, { ordinal: 1 });
    t.load.pass(0.75, 4);
    t.recorder.settled(second, report({ verdict: RESUMED }));
    const name = 'event_stream.reconnect.event_loop_utilization';
    expect(await moved(t.reader, name)).toEqual({ 'classification=resumed,role=client': 0.75 });
    const { dataPoints } = await metric(t.reader, name);
    expect(dataPoints[0]?.value).toMatchObject({
      buckets: { boundaries: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99] },
    });
  });
});

describe('gaps', () => {
  test('G1: a proven loss is a gap with its events, an unknown one is neither', async () => {
    const t = telemetry();
    t.recorder.settled(open(t, { ordinal: 1 }), report({ verdict: REORIGINATED, missed: 22 }));
    t.recorder.settled(open(t, { ordinal: 1 }), report({ verdict: REORIGINATED }));
    t.recorder.settled(open(t, { ordinal: 1 }), report({ verdict: RESUMED, missed: 0 }));
    const series = 'gap.source=reconnect,load.level=low';
    expect(await moved(t.reader, 'event_stream.client.gaps')).toEqual({ [series]: 1 });
    expect(await moved(t.reader, 'event_stream.client.missed_events')).toEqual({ [series]: 22 });
  });

  test('R20: a finding inside a connection is a gap of its own source', async () => {
    const t = telemetry();
    const first = open(t, { role: 'server' });
    t.recorder.settled(first, report());
    t.recorder.inStream(first, { kind: 'epoch_changed', missed: 'unknown' });
    t.recorder.inStream(first, { kind: 'cursor_not_advanced', missed: 5 });
    const series = 'gap.source=in_stream,load.level=low';
    expect(await moved(t.reader, 'event_stream.server.gaps')).toEqual({ [series]: 2 });
    expect(await moved(t.reader, 'event_stream.server.missed_events')).toEqual({ [series]: 5 });
  });

  test.each([
    ['what the end proves beyond the verdict is added to the gap', 3, 10, 1, 10],
    ['what the verdict has told already is not counted again', 3, 3, 1, 3],
    ['what only the end proves is a gap', 'unknown', 7, 1, 7],
    ['what nobody knows is none', 'unknown', 'unknown', 0, 0],
  ] as const)('%s', async (_title, atVerdict, atEnd, gaps, missed) => {
    const t = telemetry();
    const second = open(t, { ordinal: 1 });
    t.recorder.settled(second, report({ verdict: REORIGINATED, missed: atVerdict }));
    t.recorder.ended(second, 'eof', [report({ verdict: REORIGINATED, missed: atEnd })]);
    const sum = async (name: string) =>
      Object.values(await moved(t.reader, name)).reduce((a, b) => a + b, 0);
    expect(await sum('event_stream.client.gaps')).toBe(gaps);
    expect(await sum('event_stream.client.missed_events')).toBe(missed);
  });
});

describe('events', () => {
  test('are read from plain integers, while the connection is open and after it', async () => {
    const t = telemetry();
    const first = open(t);
    t.recorder.settled(first, report());
    first.events = 10;
    expect(await moved(t.reader, 'event_stream.client.received_events')).toEqual({ '': 10 });
    first.events = 15;
    t.recorder.ended(first, 'eof', [report()]);
    const server = open(t, { role: 'server' });
    t.recorder.settled(server, report());
    server.events = 3;
    expect(await moved(t.reader, 'event_stream.client.received_events')).toEqual({ '': 15 });
    expect(await moved(t.reader, 'event_stream.server.sent_events')).toEqual({ '': 3 });
  });

  test('that repeat are counted under the load of their reconnect', async () => {
    const t = telemetry();
    const second = open(t, { ordinal: 1 });
    t.load.pass(0.8, 4);
    t.recorder.settled(second, report({ verdict: UNVERIFIABLE }));
    t.load.pass(0, 4);
    second.repeated = 6;
    expect(await moved(t.reader, 'event_stream.client.duplicate_events')).toEqual({
      'load.level=elevated': 6,
    });
  });

  test('never make a counter fall when the protocol is confirmed late', async () => {
    const t = telemetry();
    const first = open(t);
    t.recorder.settled(first, report());
    first.events = 10;
    await moved(t.reader, 'event_stream.client.received_events');
    first.protocol = 'mercure';
    first.events = 12;
    const { dataPoints } = await metric(t.reader, 'event_stream.client.received_events');
    const byProtocol = dataPoints.map(({ attributes, value }) => [
      attributes['event_stream.protocol.name'],
      value,
    ]);
    expect(byProtocol).toEqual([
      ['sse', 10],
      ['mercure', 2],
    ]);
  });
});

describe('active connections', () => {
  test('count from the verdict to the end, and refused ones never', async () => {
    const t = telemetry();
    const name = 'event_stream.client.connection.active';
    const first = open(t);
    expect(await moved(t.reader, name)).toEqual({});
    t.recorder.settled(first, report());
    const refused = open(t, { ordinal: 1 });
    t.recorder.settled(refused, report({ verdict: REFUSED }));
    expect(await moved(t.reader, name)).toEqual({ '': 1 });
    t.recorder.ended(first, 'eof', [report()]);
    t.recorder.ended(refused, 'eof', [report({ verdict: REFUSED })]);
    expect(await moved(t.reader, name)).toEqual({});
  });
});

describe('durations', () => {
  test('an outage lasts from the end of the last connection that was up, over failed attempts', async () => {
    const t = telemetry();
    const first = open(t);
    t.recorder.settled(first, report());
    t.recorder.ended(first, 'reset', [report()]);
    t.now += 2_000;
    const refused = open(t, { ordinal: 1, previous: first.context });
    t.recorder.settled(refused, report({ verdict: REFUSED }));
    t.recorder.ended(refused, 'eof', [report({ verdict: REFUSED })]);
    t.now += 3_000;
    const unanswered = open(t, { ordinal: 2, previous: refused.context });
    t.recorder.noResponse(unanswered, 'ECONNREFUSED');
    t.now += 5_000;
    const back = open(t, { ordinal: 2, previous: unanswered.context });
    t.recorder.settled(back, report({ verdict: UNVERIFIABLE }));
    expect(await moved(t.reader, 'event_stream.client.outage.duration')).toEqual({
      'classification=refused': 2,
      'classification=unverifiable': 10,
    });
  });

  test('R19: an outage is one, however many logical streams come back', async () => {
    const t = telemetry();
    const first = open(t);
    t.recorder.settled(first, report());
    t.recorder.ended(first, 'reset', [report()]);
    const back = open(t, { ordinal: 1, previous: first.context });
    t.recorder.settled(back, report({ stream: 'a', verdict: RESUMED }));
    t.recorder.settled(back, report({ stream: 'b', verdict: RESUMED }));
    const { dataPoints } = await metric(t.reader, 'event_stream.client.outage.duration');
    expect(dataPoints.map(({ value }) => value)).toMatchObject([{ count: 1 }]);
  });

  test('there is no outage while the connection before is still open, nor on a server', async () => {
    const t = telemetry();
    const first = open(t);
    t.recorder.settled(first, report());
    const twin = open(t, { ordinal: 1, previous: first.context });
    t.recorder.settled(twin, report({ verdict: UNVERIFIABLE }));
    const server = open(t, { role: 'server' });
    t.recorder.settled(server, report());
    t.recorder.ended(server, 'reset', [report()]);
    const again = open(t, { role: 'server', ordinal: 1, previous: server.context });
    t.recorder.settled(again, report({ verdict: RESUMED }));
    await expect(metric(t.reader, 'event_stream.client.outage.duration')).rejects.toThrow();
  });

  test('a connection lasts from its attempt to its end, by the reason of the end', async () => {
    const t = telemetry();
    const first = open(t);
    t.recorder.settled(first, report());
    const server = open(t, { role: 'server' });
    t.recorder.settled(server, report());
    const refused = open(t, { ordinal: 1 });
    t.recorder.settled(refused, report({ verdict: REFUSED }));
    t.now += 90_000;
    t.recorder.ended(first, 'close:4009', [report()]);
    t.recorder.ended(server, 'reset', [report()]);
    t.recorder.ended(refused, 'eof', [report({ verdict: REFUSED })]);
    expect(await moved(t.reader, 'event_stream.client.connection.duration')).toEqual({
      'disconnect.reason=close_application': 90,
    });
    expect(await moved(t.reader, 'event_stream.server.connection.duration')).toEqual({
      'disconnect.reason=reset': 90,
    });
  });

  test('the size of a replay is that of the whole connection, where the server knows it', async () => {
    const t = telemetry();
    const one = open(t, { role: 'server', ordinal: 1 });
    t.recorder.settled(one, report({ verdict: RESUMED, replayed: 1 }));
    t.recorder.ended(one, 'eof', [report({ verdict: RESUMED, replayed: 200 })]);
    const client = open(t, { ordinal: 1 });
    t.recorder.settled(client, report({ verdict: RESUMED, replayed: 7 }));
    t.recorder.ended(client, 'eof', [report({ verdict: RESUMED, replayed: 7 })]);
    const first = open(t, { role: 'server' });
    t.recorder.settled(first, report({ replayed: 7 }));
    t.recorder.ended(first, 'eof', [report({ replayed: 7 })]);
    expect(await moved(t.reader, 'event_stream.server.replay.size')).toEqual({ '': 200 });
  });
});

describe('replay windows', () => {
  const usage = 'event_stream.server.replay_window.usage';
  const limit = 'event_stream.server.replay_window.limit';
  const withdrawn: Array<() => void> = [];
  const watch = (...given: Parameters<typeof watchReplayWindow>): (() => void) => {
    const withdraw = watchReplayWindow(...given);
    withdrawn.push(withdraw);
    return withdraw;
  };

  afterEach(() => {
    for (const withdraw of withdrawn.splice(0)) withdraw();
    toldWindows.clear();
  });

  test('the fullest one of each protocol is reported until it is withdrawn', async () => {
    const t = telemetry();
    watch(() => ({ usage: 50, limit: 1_000 }));
    const withdraw = watch(() => ({ usage: 40, limit: 50 }));
    watch(() => undefined);
    expect(await moved(t.reader, usage)).toEqual({ '': 40 });
    expect(await moved(t.reader, limit)).toEqual({ '': 50 });
    withdraw();
    expect(await moved(t.reader, usage)).toEqual({ '': 50 });
    expect(await moved(t.reader, limit)).toEqual({ '': 1_000 });
  });

  test('two instrumentations of one process tell one window once', async () => {
    const t = telemetry();
    const other = createRecorder({ name: 'other', loadSource: t.load });
    other.setMeterProvider(t.meters);
    watch(() => ({ usage: 45, limit: 50 }));
    expect(await moved(t.reader, usage)).toEqual({ '': 45 });
    expect(await moved(t.reader, limit)).toEqual({ '': 50 });
    other.disable();
  });

  test('one that throws is a counted error of ours, and the rest is collected', async () => {
    const t = telemetry();
    t.recorder.settled(open(t), report());
    watch(() => {
      throw new Error('the store is closed');
    });
    watch(() => ({ usage: 40, limit: 50 }));
    expect(await moved(t.reader, usage)).toEqual({ '': 40 });
    expect(await moved(t.reader, 'event_stream.client.connection.active')).toEqual({ '': 1 });
    expect(await moved(t.reader, 'event_stream.instrumentation.errors')).not.toEqual({});
  });

  test('what an answer said of its log stands until the next, and gives way to a log that is watched', async () => {
    const t = telemetry();
    tellReplayWindow('sse', { usage: 30, limit: 50 });
    tellReplayWindow('sse', { usage: 20, limit: 50 });
    expect(await moved(t.reader, usage)).toEqual({ '': 20 });
    watch(() => ({ usage: 10, limit: 50 }));
    expect(await moved(t.reader, usage)).toEqual({ '': 10 });
  });
});

describe('failures of the instrumentation', () => {
  test('are counted by the part that failed', async () => {
    const t = telemetry();
    t.recorder.instrumentationError('decoder');
    t.recorder.instrumentationError('decoder');
    t.recorder.instrumentationError('client_tap');
    expect(await moved(t.reader, 'event_stream.instrumentation.errors')).toEqual({
      'reason=decoder': 2,
      'reason=client_tap': 1,
    });
  });

  test('inside the recorder reach nobody but the counter', async () => {
    const broken = {
      onStart: () => {
        throw new Error('a span processor of the application');
      },
      onEnd: () => {},
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    };
    const t = telemetry({ processors: [broken] });
    const first = open(t);
    t.recorder.settled(first, report());
    expect(await moved(t.reader, 'event_stream.instrumentation.errors')).toEqual({
      'reason=telemetry': 1,
    });
    expect(await moved(t.reader, 'event_stream.client.connection.active')).toEqual({ '': 1 });
  });
});

describe('what is not followed', () => {
  test('a request of an exporter (tracing suppressed) leaves no signal at all', async () => {
    const t = telemetry();
    const key = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
    const one = connection({ ordinal: 1 });
    t.recorder.opened(one, { context: ROOT_CONTEXT.setValue(key, true) });
    t.recorder.settled(one, report({ verdict: REORIGINATED, missed: 3 }));
    one.events = 5;
    t.recorder.ended(one, 'eof', [report({ verdict: REORIGINATED, missed: 3 })]);
    expect(t.spans()).toEqual([]);
    expect(t.logs.getFinishedLogRecords()).toEqual([]);
    expect(await moved(t.reader, 'event_stream.client.reconnects')).toEqual({});
    expect(await moved(t.reader, 'event_stream.client.received_events')).toEqual({});
  });

  test('a connection that no tap announced is counted all the same', async () => {
    const t = telemetry();
    const one = connection({ ordinal: 1 });
    t.recorder.settled(one, report({ verdict: RESUMED }));
    expect(await moved(t.reader, 'event_stream.client.reconnects')).toEqual({
      'classification=resumed,load.level=low,reason=cursor_echoed': 1,
    });
  });

  test('after disable nothing counts, what was counted stays, and a new connection counts again', async () => {
    const t = telemetry();
    const first = open(t);
    t.recorder.settled(first, report());
    first.events = 4;
    t.recorder.disable();
    first.events = 9;
    t.recorder.ended(first, 'eof', [report()]);
    t.recorder.settled(connection({ ordinal: 1 }), report({ verdict: RESUMED }));
    expect(await moved(t.reader, 'event_stream.client.received_events')).toEqual({ '': 4 });
    expect(await moved(t.reader, 'event_stream.client.connection.active')).toEqual({});
    expect(await moved(t.reader, 'event_stream.client.reconnects')).toEqual({});
    expect([t.load.timers.size, t.load.delays.size]).toEqual([0, 0]);
    t.recorder.settled(open(t, { ordinal: 1 }), report({ verdict: RESUMED }));
    expect(await moved(t.reader, 'event_stream.client.reconnects')).not.toEqual({});
  });
});

describe('two recorders of one process', () => {
  test.each(['test', 'another'])('add up on one meter, scope %s', async (name) => {
    const t = telemetry();
    const other = createRecorder({ name, loadSource: t.load });
    other.setMeterProvider(t.meters);
    const mine = open(t, { ordinal: 1 });
    const theirs = connection({ ordinal: 1 });
    other.opened(theirs, start);
    t.recorder.settled(mine, report({ verdict: RESUMED }));
    other.settled(theirs, report({ verdict: RESUMED }));
    expect(await moved(t.reader, 'event_stream.client.reconnects')).toEqual({
      'classification=resumed,load.level=low,reason=cursor_echoed': 2,
    });
    expect(await moved(t.reader, 'event_stream.client.connection.active')).toEqual({ '': 2 });
    other.disable();
  });

  test('count the active streams of both as the load of each', async () => {
    const t = telemetry({ load: { high: { activeStreams: 3 } } });
    const other = telemetry({ load: { high: { activeStreams: 3 } } });
    for (const recorder of [t, other, t]) {
      recorder.recorder.settled(open(recorder, { ordinal: 1 }), report({ verdict: RESUMED }));
    }
    const reconnects = 'event_stream.client.reconnects';
    expect(await moved(t.reader, reconnects)).toEqual({
      'classification=resumed,load.level=low,reason=cursor_echoed': 1,
      'classification=resumed,load.level=high,reason=cursor_echoed': 1,
    });
    other.recorder.disable();
    t.recorder.settled(open(t, { ordinal: 1 }), report({ verdict: RESUMED }));
    t.recorder.disable();
    other.recorder.settled(open(other, { ordinal: 1 }), report({ verdict: RESUMED }));
    expect(await moved(other.reader, reconnects)).toEqual({
      'classification=resumed,load.level=low,reason=cursor_echoed': 2,
    });
  });
});
