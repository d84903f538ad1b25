import type { StreamConnection, StreamTimeline, Transport } from '@sameriver/core';
import { expect, test } from 'vitest';
import { createRecorder } from './recorder.ts';
import type { TapHost } from './tap.ts';
import type { TapOptions } from './taps.ts';
import { startTaps } from './taps.ts';

/** Starts taps that do nothing but tell with which hosts they were started, and stopped. */
function start(transport: Transport, options: TapOptions = {}) {
  const hosts: Record<string, TapHost> = {};
  const stopped: string[] = [];
  const tap = (role: string) => (host: TapHost) => {
    hosts[role] = host;
    return () => stopped.push(role);
  };
  const recorder = createRecorder({ name: 'test' });
  const taps = { client: tap('client'), server: tap('server') };
  const stop = startTaps(transport, taps, options, recorder);
  return { hosts, stopped, stop, recorder };
}

function read(timeline: StreamTimeline | undefined): StreamConnection | undefined {
  const connection = timeline?.open(
    { transport: 'sse', method: 'GET', origin: '', target: '/feed', header: () => undefined },
    0,
  );
  connection?.response(200, () => 'text/event-stream');
  connection?.pushString('data: x\n\n');
  return connection;
}

test('each role has its tap and its timeline, unless it is switched off', () => {
  const both = start('sse');
  expect(both.hosts['client']?.timeline).not.toBe(both.hosts['server']?.timeline);
  both.stop();
  expect(both.stopped).toEqual(['client', 'server']);
  const one = start('sse', { client: false });
  expect(Object.keys(one.hosts)).toEqual(['server']);
  one.stop();
});

test('M1: the taps of two transports stand on the same timelines', () => {
  const [sse, websocket] = [start('sse'), start('websocket')];
  for (const role of ['client', 'server']) {
    expect(websocket.hosts[role]?.timeline).toBe(sse.hosts[role]?.timeline);
  }
  sse.stop();
  websocket.stop();
  const later = start('sse');
  expect(later.hosts['client']?.timeline).not.toBe(websocket.hosts['client']?.timeline);
  later.stop();
});

test('the hook hears after the recorder, and what it throws is counted and goes nowhere', () => {
  const slots: unknown[] = [];
  const reportHook: TapOptions['reportHook'] = (_report, { context }) => {
    slots.push(context);
    throw new Error('of the application');
  };
  const { hosts, stop } = start('sse', { reportHook });
  expect(() => read(hosts['client']?.timeline)).not.toThrow();
  // The recorder has filled its slot.
  expect(slots).toEqual([expect.objectContaining({ paidUntil: 0 })]);
  stop();
});

test('an application that ignores requests decides by role', () => {
  const asked: string[] = [];
  const { hosts, stop } = start('sse', {
    ignoreRequest: ({ target }, role) => {
      asked.push(`${role} ${target}`);
      return role === 'server';
    },
  });
  const request = { method: 'GET', target: '/feed', header: () => undefined };
  expect(['client', 'server'].map((role) => hosts[role]?.ignore?.(request))).toEqual([false, true]);
  expect(asked).toEqual(['client /feed', 'server /feed']);
  stop();
});
