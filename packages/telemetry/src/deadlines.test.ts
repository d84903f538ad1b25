import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDeadlines } from './deadlines.ts';

describe('deadlines', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('R16: each calls back once, a delay after it was set', () => {
    const later = createDeadlines(1000);
    const heard: string[] = [];
    later(() => heard.push('first'));
    vi.advanceTimersByTime(400);
    later(() => heard.push('second'));
    vi.advanceTimersByTime(590);
    expect(heard).toEqual([]);
    vi.advanceTimersByTime(20);
    expect(heard).toEqual(['first']);
    vi.advanceTimersByTime(400);
    expect(heard).toEqual(['first', 'second']);
    vi.advanceTimersByTime(5000);
    expect(heard).toEqual(['first', 'second']);
  });

  it('forgets one that is cancelled, also when it was the one to come next', () => {
    const later = createDeadlines(1000);
    const heard: string[] = [];
    const cancel = later(() => heard.push('cancelled'));
    vi.advanceTimersByTime(300);
    later(() => heard.push('kept'));
    cancel();
    vi.advanceTimersByTime(1010);
    expect(heard).toEqual(['kept']);
  });

  it('lets a callback set and cancel others', () => {
    const later = createDeadlines(1000);
    const heard: string[] = [];
    later(() => {
      later(() => heard.push('set later'));
      cancel();
    });
    const cancel = later(() => heard.push('cancelled'));
    vi.advanceTimersByTime(100);
    later(() => heard.push('set before'));
    vi.advanceTimersByTime(910);
    expect(heard).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(heard).toEqual(['set before']);
    vi.advanceTimersByTime(910);
    expect(heard).toEqual(['set before', 'set later']);
  });

  it('keeps one timer however many wait, and none once all are over', () => {
    const later = createDeadlines(1000);
    for (let n = 0; n < 100; n++) later(() => undefined);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1010);
    expect(vi.getTimerCount()).toBe(0);
  });
});
