import { describe, expect, test } from 'vitest';
import { FakeLoad } from '../test/harness.ts';
import { createLoadProbe } from './load-probe.ts';

describe('the load probe', () => {
  test('utilization is that of the last second, whatever came before', () => {
    const load = new FakeLoad();
    const probe = createLoadProbe(() => 1, {}, load);
    probe.watch();
    load.pass(0, 60);
    load.pass(1, 2);
    expect(probe.read()).toEqual({
      eventLoopUtilization: 1,
      eventLoopDelay: 0,
      activeStreams: 1,
      level: 'high',
    });
    load.pass(0, 2);
    expect(probe.read().eventLoopUtilization).toBe(0);
  });

  test('a blocked loop that delays the tick itself is seen by the read', () => {
    const load = new FakeLoad();
    const probe = createLoadProbe(() => 1, {}, load);
    probe.watch();
    load.pass(0, 4);
    load.active += 4_000;
    expect(probe.read().eventLoopUtilization).toBeCloseTo(0.8);
  });

  test('without a watch the whole life of the loop is looked at, and no timer runs', () => {
    const load = new FakeLoad();
    load.active = 30;
    load.idle = 70;
    const probe = createLoadProbe(() => 0, {}, load);
    expect(probe.read().eventLoopUtilization).toBeCloseTo(0.3);
    expect([load.timers.size, load.delays.size]).toEqual([0, 0]);
  });

  test('a verdict in the tick in which the watch began is not taken for a busy loop', () => {
    const load = new FakeLoad();
    load.idle = 9_900;
    load.active = 100;
    const probe = createLoadProbe(() => 1, {}, load);
    probe.watch();
    load.active += 99;
    expect(probe.read()).toMatchObject({ level: 'low' });
    load.active += 1;
    expect(probe.read()).toMatchObject({ eventLoopUtilization: 1, level: 'high' });
  });

  test('delay counts for ten seconds and is forgotten within twenty', () => {
    const load = new FakeLoad();
    const probe = createLoadProbe(() => 1, {}, load);
    probe.watch();
    load.p99 = 250;
    load.pass(0);
    expect(probe.read()).toMatchObject({ eventLoopDelay: 250, level: 'high' });
    load.pass(0, 19);
    load.p99 = 0;
    load.pass(0, 19);
    expect(probe.read().eventLoopDelay).toBe(250);
    load.pass(0, 1);
    expect(probe.read()).toMatchObject({ eventLoopDelay: 0, level: 'low' });
  });

  test('it runs once however often it is asked, and a minute after the last stream it stops', () => {
    const load = new FakeLoad();
    let streams = 1;
    const probe = createLoadProbe(() => streams, {}, load);
    probe.watch();
    probe.watch();
    expect([load.timers.size, load.delays.size]).toEqual([1, 1]);
    load.pass(0, 500);
    streams = 0;
    load.pass(0, 119);
    expect(probe.watching).toBe(true);
    load.pass(0, 1);
    expect(probe.watching).toBe(false);
    expect([load.timers.size, load.delays.size]).toEqual([0, 0]);
  });

  test('figures of this process are in range', () => {
    const probe = createLoadProbe(() => 0);
    probe.watch();
    try {
      const { eventLoopUtilization, eventLoopDelay } = probe.read();
      expect(eventLoopUtilization).toBeGreaterThanOrEqual(0);
      expect(eventLoopUtilization).toBeLessThanOrEqual(1);
      expect(eventLoopDelay).toBeGreaterThanOrEqual(0);
    } finally {
      probe.stop();
    }
    expect(probe.watching).toBe(false);
  });
});
