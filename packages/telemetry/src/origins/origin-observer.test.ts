import type { StreamConnection, StreamReport, StreamTimeline } from '@sameriver/core';
import { createServerTimeline } from '@sameriver/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { IssuedRecord, KnownIssuer, KnownIssuers, OriginIndex } from './origin-index.ts';
import { OriginObserver } from './origin-observer.ts';

/** An index that answers when the test says so. */
class Index implements OriginIndex {
  readonly told: IssuedRecord[] = [];
  readonly asked: string[] = [];
  readonly #answers: ((others: readonly KnownIssuer[]) => void)[] = [];
  isDown = false;
  isMute = false;

  async issued(records: readonly IssuedRecord[]): Promise<void> {
    if (this.isDown) throw new Error('down');
    if (this.isMute) return new Promise(() => {});
    this.told.push(...records);
  }

  async issuersOf(stream: string): Promise<KnownIssuers> {
    this.asked.push(stream);
    if (this.isDown) throw new Error('down');
    const issuers = await new Promise<readonly KnownIssuer[]>((resolve) =>
      this.#answers.push(resolve),
    );
    return { issuers, unreadable: 0 };
  }

  async answer(...issuers: readonly KnownIssuer[]): Promise<void> {
    for (const answer of this.#answers.splice(0)) answer(issuers);
    await vi.advanceTimersByTimeAsync(0);
  }

  get runs(): unknown[] {
    return this.told.map(({ epoch, ids }) => [epoch?.text, ...ids.runs]);
  }
}

/** A protocol with an epoch of its own. */
const LOGGED = {
  name: 'logged',
  match: { transport: 'sse', path: '/logged' },
  cursor: { sent: ['req-header:last-event-id'], received: ['sse:id'], codec: 'opaque' },
  epoch: { received: ['header:x-log'] },
} as const;

class Instance {
  readonly index = new Index();
  readonly heard: string[] = [];
  failures = 0;
  readonly observer: OriginObserver;
  readonly #timeline: StreamTimeline;

  constructor(capture: { readonly cursor?: 'raw' | 'hash' } = {}) {
    const hear = (what: string, { verdict, missed }: StreamReport): void => {
      if (verdict !== undefined) this.heard.push(`${what} ${verdict.reason} ${missed}`);
    };
    const options = {
      index: this.index,
      capture,
      now: () => performance.now(),
      instance: 'here',
      failed: () => void this.failures++,
    };
    this.observer = new OriginObserver(options, {
      settled: (_, report) => hear('settled', report),
      revised: (_, report) => hear('revised', report),
      inStream: () => this.heard.push('in stream'),
      ended: (_, end, reports) => {
        for (const report of reports) hear(`ended by ${end}:`, report);
      },
    });
    this.#timeline = createServerTimeline({ observer: this.observer, profiles: [LOGGED] });
  }

  open(
    cursor?: string,
    gen?: string,
    target = '/feed',
    log?: string,
    method = 'GET',
  ): StreamConnection {
    const request: Record<string, string | undefined> = { 'last-event-id': cursor };
    const connection = this.#timeline.open(
      { transport: 'sse', method, origin: '', target, header: (name) => request[name] },
      0,
    );
    const answer: Record<string, string | undefined> = {
      'content-type': 'text/event-stream',
      'stream-continuity': gen && `gen="${gen}"`,
      'x-log': log,
    };
    connection.response(200, (name) => answer[name]);
    return connection;
  }
}

function write(connection: StreamConnection, first: number, last: number = first): void {
  for (let id = first; id <= last; id++) connection.pushString(`id: ${id}\ndata: e${id}\n\n`);
}

function elsewhere(first: number, last: number, digest?: string): KnownIssuer {
  const epoch = digest === undefined ? undefined : { digest, text: digest };
  const ids = { runs: [[first, last] as const], tags: [] };
  return { issuer: 'another.1', instance: 'there', writtenAgo: 0, epoch, ids };
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a verdict that another instance may know more about', () => {
  it('is held until the index has answered, and the end of its connection with it', async () => {
    const { index, heard, ...instance } = make();
    const connection = instance.open('4118', 'b');
    write(connection, 13);
    connection.end('eof');
    expect(heard).toEqual([]);
    await index.answer(elsewhere(1, 4140, 'a'));
    expect(heard).toEqual(['settled epoch_changed unknown', 'ended by eof: epoch_changed unknown']);
  });

  it('X4: is taken back where it was resumed, with the loss that it excluded', async () => {
    const { index, heard, ...instance } = make();
    write(instance.open(), 1, 14);
    write(instance.open('13'), 14);
    await index.answer(elsewhere(1, 20));
    expect(heard).toEqual(['settled cursor_issued_elsewhere unknown']);
  });

  it('X1: is no other log where a new release stamps what the old one did not', async () => {
    const cursor = '2f1b8c3e-0b7e-4c57-9d2e-0a1b2c3d4e5f';
    const old = make();
    const first = old.open(undefined, undefined, '/logged', 'log a');
    first.pushString(`id: ${cursor}\ndata: e\n\n`);
    first.end('eof');
    await vi.advanceTimersByTimeAsync(1_000);
    const issuers = old.index.told.map((told) => ({ ...told, issuer: 'another.1' }));
    const { index, heard, ...instance } = make();
    instance.open(cursor, 'gen 7', '/logged', 'log a').end('eof');
    await index.answer(...issuers);
    expect(heard).toEqual(['settled no_events unknown', 'ended by eof: no_events unknown']);
  });

  it('is told as it is after 250 ms, and the failure is counted', async () => {
    const { index, heard, failures, ...instance } = make();
    write(instance.open('4118'), 13);
    await vi.advanceTimersByTimeAsync(249);
    expect(heard).toEqual([]);
    await vi.advanceTimersByTimeAsync(3);
    expect([heard, failures()]).toEqual([['settled cursor_not_advanced unknown'], 1]);
    await index.answer(elsewhere(1, 4140));
    expect(heard).toHaveLength(1);
  });

  it('is told at once where the index fails', async () => {
    const { index, heard, failures, ...instance } = make();
    index.isDown = true;
    write(instance.open('4118'), 13);
    await vi.advanceTimersByTimeAsync(0);
    expect([heard, failures()]).toEqual([['settled cursor_not_advanced unknown'], 1]);
  });

  it('is asked about again where answers were lost, and what is issued is told again', async () => {
    const { index, failures, ...instance } = make();
    index.isMute = true;
    for (let at = 0; at < 600; at++) write(instance.open('4118', undefined, `/${at}`), 13);
    await vi.advanceTimersByTimeAsync(2_000);
    expect([index.asked.length, index.told.length, failures()]).toEqual([512, 0, 600]);
    index.isMute = false;
    await vi.advanceTimersByTimeAsync(62_000);
    expect(index.told).toHaveLength(600);
    write(instance.open('4118', undefined, '/another'), 13);
    expect(index.asked).toHaveLength(513);
  });

  it('is asked about once for all the readers who come back to one stream', async () => {
    const { index, heard, ...instance } = make();
    for (let reader = 0; reader < 100; reader++) instance.open('4118').end('eof');
    expect(index.asked).toHaveLength(1);
    await index.answer();
    expect(heard).toHaveLength(200);
  });

  it('is not asked about any more while 512 questions have no answer', async () => {
    const { index, heard, failures, ...instance } = make();
    for (let stream = 0; stream < 600; stream++) write(instance.open('9', 'b', `/${stream}`), 3);
    expect([index.asked.length, heard.length, failures()]).toEqual([512, 88, 88]);
  });

  it('is not asked about where this instance knows better', () => {
    const { index, heard, ...instance } = make();
    write(instance.open(), 1, 20);
    write(instance.open('5'), 20);
    expect([heard, index.asked]).toEqual([['settled window_exceeded 14'], []]);
  });

  it('is told as it is when the instrumentation is switched off', async () => {
    const { heard, stop, ...instance } = make();
    write(instance.open('4118'), 13);
    stop();
    expect(heard).toEqual(['settled cursor_not_advanced unknown']);
  });
});

describe('what an instance tells', () => {
  it('is nothing at the events, and all of them in one record a second later', async () => {
    const { index, ...instance } = make();
    write(instance.open(undefined, 'b'), 1, 500);
    await vi.advanceTimersByTimeAsync(999);
    expect(index.told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(index.runs).toEqual([['b', [1, 500]]]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(index.told).toHaveLength(1);
  });

  it('is told at the end of a connection, and its timer stops', async () => {
    const { index, ...instance } = make();
    const connection = instance.open();
    write(connection, 1, 5);
    connection.end('reset');
    await vi.advanceTimersByTimeAsync(1);
    expect(index.runs).toEqual([[undefined, [1, 5]]]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is told again where it was not heard, once a second', async () => {
    const { index, failures, ...instance } = make();
    index.isDown = true;
    const connection = instance.open();
    write(connection, 1, 5);
    connection.end('reset');
    await vi.advanceTimersByTimeAsync(3_500);
    expect(failures()).toBe(4);
    index.isDown = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(index.runs).toEqual([[undefined, [1, 5]]]);
  });

  it('X7: is told under the epoch under which it was issued', async () => {
    const { index, ...instance } = make();
    write(instance.open(undefined, 'a'), 1, 5);
    await vi.advanceTimersByTimeAsync(1_000);
    const next = instance.open(undefined, 'b');
    write(next, 100, 109);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(index.runs).toEqual([
      ['a', [1, 5]],
      // The first event of a connection is written before its epoch is known to be another one.
      ['b', [101, 109]],
    ]);
  });

  it('X7: is withdrawn where ids turn out to stand for several events', async () => {
    const { index, ...instance } = make();
    write(instance.open(), 1, 5);
    await vi.advanceTimersByTimeAsync(1_000);
    instance.open().pushString('id: 1\ndata: something else\n\n');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(index.told.map(({ ids }) => ids)).toEqual([
      { runs: [[1, 5]], tags: [] },
      { runs: [], tags: [] },
    ]);
    expect(new Set(index.told.map(({ issuer }) => issuer)).size).toBe(1);
  });

  it('is nothing of an answer without a session, which nobody could find elsewhere', async () => {
    const { index, ...instance } = make();
    const connection = instance.open(undefined, 'b', '/mcp', undefined, 'POST');
    write(connection, 1, 5);
    connection.end('eof');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(index.told).toEqual([]);
  });

  it('is no number where cursors are hashed', async () => {
    const { index, ...instance } = make({ cursor: 'hash' });
    write(instance.open(), 1, 5);
    await vi.advanceTimersByTimeAsync(1_000);
    const [{ ids } = { ids: undefined }] = index.told;
    expect([ids?.runs, ids?.tags.length]).toEqual([[], 5]);
  });

  it('is told once more when the instrumentation is switched off', async () => {
    const { index, stop, ...instance } = make();
    write(instance.open(), 1, 5);
    stop();
    expect(index.runs).toEqual([[undefined, [1, 5]]]);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

function make(capture: { readonly cursor?: 'raw' | 'hash' } = {}) {
  const instance = new Instance(capture);
  const { index, heard, observer } = instance;
  return {
    index,
    heard,
    failures: () => instance.failures,
    stop: () => observer.stop(),
    open: (...given: Parameters<Instance['open']>) => instance.open(...given),
  };
}
