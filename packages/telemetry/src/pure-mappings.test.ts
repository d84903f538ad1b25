import { describe, expect, test } from 'vitest';
import { connection, REORIGINATED, report } from '../test/harness.ts';
import { captured, epochCapture } from './capture.ts';
import { zeroSeries } from './counts.ts';
import { disconnectReason } from './disconnect-reason.ts';
import { spend } from './event-budget.ts';
import { loadLevel } from './load-level.ts';
import { DISCONNECT_REASON_VALUES, REASON_VALUES } from './names.ts';
import { createProtocolLabels, protocolName } from './protocol-names.ts';
import { createMemo } from './record.ts';
import { connectionAttributes, reportAttributes } from './report-attributes.ts';
import { createTally } from './tally.ts';
import { possibleVerdicts } from './verdict-space.ts';

describe('capture', () => {
  test.each([
    ['4118', 'raw', '4118'],
    ['4118', 'off', undefined],
    // printf 4118 | sha256sum
    ['4118', 'hash', '0ba896169af5b24d'],
    [undefined, 'raw', undefined],
    [undefined, 'hash', undefined],
    ['', 'raw', ''],
    ['x'.repeat(129), 'raw', 'x'.repeat(128)],
  ] as const)('%j captured %s is %j', (value, how, expected) => {
    expect(captured(value, how)).toBe(expected);
  });

  test('an epoch from a session id is hashed unless the configuration says otherwise', () => {
    expect(epochCapture(undefined, true)).toBe('hash');
    expect(epochCapture(undefined, false)).toBe('raw');
    expect(epochCapture('raw', true)).toBe('raw');
    expect(epochCapture('off', false)).toBe('off');
  });
});

describe('where a cursor was issued', () => {
  const epoch = { digest: '0ba896169af5b24d', text: 'log-a' };
  const origin = { instance: 'a', epoch, newest: 4_140, eventsAfter: 22 };
  const fromOrigin = (...given: Parameters<typeof reportAttributes>): unknown =>
    Object.entries(reportAttributes(...given)).filter(([name]) => name.includes('.origin.'));

  test('X6: is told by instance, epoch, newest id and how many follow it', () => {
    expect(fromOrigin(report({ origin }), {})).toEqual([
      ['event_stream.origin.instance.id', 'a'],
      ['event_stream.origin.events_after', 22],
      ['event_stream.origin.epoch', 'log-a'],
      ['event_stream.origin.cursor.newest', '4140'],
    ]);
  });

  test.each([
    ['hash', '0ba896169af5b24d', captured('4140', 'hash')],
    ['off', undefined, undefined],
  ] as const)('is told with cursors and epochs captured %s', (how, told, newest) => {
    expect(fromOrigin(report({ origin }), { cursor: how, epoch: how })).toEqual(
      [
        ['event_stream.origin.instance.id', 'a'],
        ['event_stream.origin.events_after', 22],
        ['event_stream.origin.epoch', told],
        ['event_stream.origin.cursor.newest', newest],
      ].filter(([, value]) => value !== undefined),
    );
  });

  test('is told without what nobody knows', () => {
    const unknown = { ...origin, epoch: undefined, newest: undefined, eventsAfter: 0 };
    expect(fromOrigin(report({ origin: unknown }), {})).toEqual([
      ['event_stream.origin.instance.id', 'a'],
      ['event_stream.origin.events_after', 0],
    ]);
  });
});

describe('disconnect reason', () => {
  test.each([
    ['eof', 'eof'],
    ['reset', 'reset'],
    ['aborted', 'aborted'],
    ['idle_timeout', 'idle_timeout'],
    ['open', 'open'],
    ['close:1000', 'close_normal'],
    ['close:1001', 'close_going_away'],
    ['close:1002', 'close_protocol_error'],
    ['close:1005', 'close_no_status'],
    ['close:1006', 'close_abnormal'],
    ['close:1008', 'close_policy'],
    ['close:1009', 'close_too_big'],
    ['close:1011', 'close_server_error'],
    ['close:1012', 'close_restart'],
    ['close:1013', 'close_restart'],
    ['close:2999', 'close_other'],
    ['close:3000', 'close_registered'],
    ['close:4009', 'close_application'],
    ['close:5000', 'close_other'],
    ['close:-1', 'close_other'],
  ] as const)('%s is %s', (end, reason) => {
    expect(disconnectReason(end, { protocol: 'sse' })).toBe(reason);
    expect(DISCONNECT_REASON_VALUES).toContain(reason);
  });

  test.each([
    ['an MCP server that said when to come back, and closed', 'mcp-2025', 1000, 'polling'],
    ['an MCP server that said nothing', 'mcp-2025', undefined, 'eof'],
    ['a plain server, which says it and closes for any reason', 'sse', 1000, 'eof'],
  ])('calls the end of a stream of %s', (_, protocol, retry, reason) => {
    expect(disconnectReason('eof', { protocol, retry })).toBe(reason);
    expect(disconnectReason('reset', { protocol, retry })).toBe('reset');
  });
});

describe('report attributes', () => {
  test('G1: what is unknown is absent, never 0', () => {
    expect(reportAttributes(report({ verdict: REORIGINATED }), {})).toEqual({
      'event_stream.classification': 'reoriginated',
      'event_stream.reason': 'cursor_not_advanced',
    });
  });

  test('everything that is known is told', () => {
    const known = report({
      verdict: REORIGINATED,
      revised: true,
      missed: 22,
      duplicates: 6,
      atLeast: true,
      epoch: 'b',
      previousEpoch: 'a',
      requestedCursor: '4118',
      firstCursor: '13',
      lastCursor: '14',
      replayed: 0,
    });
    expect(reportAttributes(known, {})).toEqual({
      'event_stream.classification': 'reoriginated',
      'event_stream.reason': 'cursor_not_advanced',
      'event_stream.revised': true,
      'event_stream.missed': 22,
      'event_stream.duplicates': 6,
      'event_stream.duplicates.at_least': true,
      'event_stream.epoch': 'b',
      'event_stream.epoch.previous': 'a',
      'event_stream.cursor.requested': '4118',
      'event_stream.cursor.first': '13',
      'event_stream.cursor.last': '14',
      'event_stream.replayed': 0,
    });
  });

  test('G4: an unknown number of duplicates is no lower bound', () => {
    const attributes = reportAttributes(report({ atLeast: true }), {});
    expect(attributes).not.toHaveProperty('event_stream.duplicates.at_least');
  });

  test('cursors and epochs are captured as configured, each on its own', () => {
    const known = report({ epoch: 'a', requestedCursor: '4118', epochIsSession: true });
    expect(reportAttributes(known, { cursor: 'off' })).toEqual({
      'event_stream.epoch': 'ca978112ca1bbdca',
    });
    expect(reportAttributes(known, { cursor: 'hash', epoch: 'off' })).toEqual({
      'event_stream.cursor.requested': '0ba896169af5b24d',
    });
  });

  test('a connection has its protocol, role, number and request before anything is known', () => {
    const second = connection({ role: 'server', ordinal: 1, resumeRequested: true });
    expect(connectionAttributes(second)).toEqual({
      'event_stream.protocol.name': 'sse',
      'event_stream.role': 'server',
      'event_stream.connection.ordinal': 1,
      'event_stream.resume.requested': true,
    });
  });
});

describe('protocol names', () => {
  test('profiles of a protocol with a name of its own share that name', () => {
    expect(protocolName('mcp-2025')).toBe('mcp_streamable_http');
    expect(protocolName('mcp-2026')).toBe('mcp_streamable_http');
    expect(protocolName('socket.io')).toBe('socket_io');
    expect(protocolName('mercure')).toBe('mercure');
  });

  test('the 21st name and every later one is _OTHER, and the known ones stay', () => {
    const labelOf = createProtocolLabels();
    for (let i = 0; i < 20; i += 1) expect(labelOf(`p${i}`)).toBe(`p${i}`);
    expect(labelOf('p20')).toBe('_OTHER');
    expect(labelOf('p21')).toBe('_OTHER');
    expect(labelOf('p0')).toBe('p0');
  });
});

describe('the space of verdicts', () => {
  test('every reason of the rules is possible at one end or the other', () => {
    const reasons = [
      ...possibleVerdicts('client', 'websocket'),
      ...possibleVerdicts('server', 'sse'),
    ];
    expect([...new Set(reasons.map(({ reason }) => reason))].sort()).toEqual(
      [...REASON_VALUES].sort(),
    );
  });

  test('R15: no_profile is possible on the generic WebSocket only', () => {
    const reasonsOn = (protocol: string) =>
      possibleVerdicts('client', protocol).map(({ reason }) => reason);
    expect(reasonsOn('websocket')).toContain('no_profile');
    expect(reasonsOn('sse')).not.toContain('no_profile');
  });

  test('with as many protocols as there may be, no instrument has 2,000 series', () => {
    const tally = createTally();
    const labelOf = createProtocolLabels();
    for (let i = 0; i < 30; i += 1) {
      for (const role of ['client', 'server'] as const) {
        zeroSeries(tally, { role, protocol: labelOf(i === 0 ? 'websocket' : `p${i}`) });
      }
    }
    const sizes = [...tally.tables.values()].map((table) => table.size);
    expect(Math.max(...sizes)).toBeGreaterThan(1_000);
    expect(Math.max(...sizes)).toBeLessThan(2_000);
  });
});

describe('load level', () => {
  const quiet = { eventLoopUtilization: 0, eventLoopDelay: 0, activeStreams: 0 };

  test.each([
    [{}, 'low'],
    [{ eventLoopUtilization: 0.69, eventLoopDelay: 49, activeStreams: 1e6 }, 'low'],
    [{ eventLoopUtilization: 0.7 }, 'elevated'],
    [{ eventLoopDelay: 50 }, 'elevated'],
    [{ eventLoopUtilization: 0.9 }, 'high'],
    [{ eventLoopDelay: 200 }, 'high'],
  ] as const)('%j is %s', (figures, level) => {
    expect(loadLevel({ ...quiet, ...figures })).toBe(level);
  });

  test('a configured limit replaces one figure and leaves the others', () => {
    const options = { high: { activeStreams: 100 }, elevated: { eventLoopUtilization: 0.2 } };
    expect(loadLevel({ ...quiet, activeStreams: 100 }, options)).toBe('high');
    expect(loadLevel({ ...quiet, eventLoopUtilization: 0.2 }, options)).toBe('elevated');
    expect(loadLevel({ ...quiet, eventLoopUtilization: 0.9 }, options)).toBe('high');
  });
});

describe('the budget for events of one stream', () => {
  const budget = { burst: 3, interval: 1_000 };

  test('a burst is told at once, then one for each interval', () => {
    const memo = createMemo(undefined);
    const told = (now: number) => spend(memo, budget, now, false);
    expect([told(0), told(0), told(0), told(0)]).toEqual([true, true, true, false]);
    expect([told(999), told(1_000), told(1_000)]).toEqual([false, true, false]);
    expect([told(60_000), told(60_000), told(60_000), told(60_000)]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test('urgent events have twice the burst', () => {
    const memo = createMemo(undefined);
    const told = Array.from({ length: 7 }, () => spend(memo, budget, 0, true));
    expect(told).toEqual([true, true, true, true, true, true, false]);
  });

  test('a stream that reconnects keeps its debt', () => {
    const memo = createMemo(undefined);
    for (let i = 0; i < 3; i += 1) spend(memo, budget, 0, false);
    expect(spend(createMemo(memo), budget, 0, false)).toBe(false);
  });
});
