import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { readContinuity } from '@sameriver/core';
import { createRecorder } from '@sameriver/telemetry';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../examples/memory-event-store.ts';
import { initialize, lastId, listen, post } from '../../test/raw-client.ts';
import type { SdkServer } from '../../test/sdk-servers.ts';
import { SDKS, startSdkServer } from '../../test/sdk-servers.ts';
import type { ContinuityLogOptions, EventStore } from './index.ts';
import { continuity, withContinuity } from './index.ts';

const servers: SdkServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const IN_MEMORY: ContinuityLogOptions = { epoch: 'in-memory' };

/** Ids in the order of the clock alone, as the example of the SDK makes them, but never two alike. */
class SteadyExample extends InMemoryEventStore {
  #at = 0;

  override async storeEvent(...given: Parameters<InMemoryEventStore['storeEvent']>) {
    while (Date.now() <= this.#at) await new Promise((resolve) => setImmediate(resolve));
    this.#at = Date.now();
    return super.storeEvent(...given);
  }
}

/** Keeps the last two events, and sends what is left to whoever asks for what is gone. */
class ClampingStore implements EventStore {
  #kept: [string, string, object][] = [];
  #count = 0;

  async storeEvent(stream: string, message: object): Promise<string> {
    this.#count += 1;
    this.#kept = [...this.#kept, [`e${this.#count}`, stream, message] as const].slice(-2) as never;
    return `e${this.#count}`;
  }

  async replayEventsAfter(id: string, { send }: Parameters<EventStore['replayEventsAfter']>[1]) {
    for (const [kept, , message] of this.#kept) {
      if (Number(kept.slice(1)) > Number(id.slice(1))) await send(kept, message);
    }
    return '_GET_stream';
  }
}

async function serve(
  open: (typeof SDKS)[string],
  inner: EventStore,
  options: ContinuityLogOptions = IN_MEMORY,
): Promise<SdkServer> {
  const eventStore = withContinuity(inner, options);
  const before = (response: Parameters<typeof continuity>[0]) => continuity(response, eventStore);
  const server = await startSdkServer(open, { eventStore, before });
  servers.push(server);
  await initialize(server.url);
  return server;
}

/** Reads the standalone stream up to a message, leaves it, and lets others come meanwhile. */
async function leaveAfter(server: SdkServer, text: string, ...meanwhile: string[]) {
  const stream = await listen(server.url, server.sessionId);
  await server.notify(text);
  const cursor = lastId(await stream.until(`"${text}"`));
  await stream.close();
  await server.left();
  for (const missed of meanwhile) await server.notify(missed);
  return { cursor, said: said(stream.headers, undefined) };
}

function said(headers: Headers, cursor: string | undefined): Record<string, unknown> {
  const field = headers.get('stream-continuity') ?? undefined;
  return Object.fromEntries(readContinuity(field, cursor) ?? []);
}

describe.each(Object.entries(SDKS))('withContinuity behind %s', (_, open) => {
  it('says that a stream begins, and names its log', async () => {
    const server = await serve(open, new MemoryEventStore(50));
    const { said } = await leaveAfter(server, 'first');
    expect(said).toEqual({ status: 'initialized', gen: expect.stringMatching(/^[\w-]{16}$/) });
  });

  it('vouches for a replay, with the cursor, what comes next and the end of the log', async () => {
    const store = new MemoryEventStore(50);
    const find = (id: string) => store.find(id);
    const server = await serve(open, store, { epoch: () => 'log-1', find });
    const { cursor } = await leaveAfter(server, 'first', 'second', 'third');
    const resumed = await listen(server.url, server.sessionId, cursor);
    const text = await resumed.until('third');
    await resumed.close();
    const field = said(resumed.headers, cursor);
    expect(field).toMatchObject({ status: 'resumed', gen: 'log-1', from: cursor });
    expect(text).toContain(`id: ${field['next']}\ndata: `);
    expect(text.indexOf('second')).toBeGreaterThan(text.indexOf(String(field['next'])));
    expect(text.startsWith(': stream-continuity status=resumed, gen="log-1"')).toBe(true);
  });

  it('repairs the resume of the standalone stream that the example store cannot do', async () => {
    const server = await serve(open, new SteadyExample());
    const { cursor } = await leaveAfter(server, 'first', 'second');
    const resumed = await listen(server.url, server.sessionId, cursor);
    await resumed.until('second');
    await server.notify('live');
    await resumed.until('live');
    await resumed.close();
    expect(said(resumed.headers, cursor)).toMatchObject({ status: 'resumed', from: cursor });
  });

  it('says that a cursor is not of this log', async () => {
    const server = await serve(open, new SteadyExample());
    const answer = await listen(server.url, server.sessionId, '4118');
    await answer.close();
    expect(answer.status).toBe(200);
    expect(said(answer.headers, '4118')).toMatchObject({
      status: 'reset',
      received: '4118',
      reason: 'unknown-id',
    });
  });

  it('says that events are gone where the store sends what is left in silence', async () => {
    const server = await serve(open, new ClampingStore());
    const { cursor } = await leaveAfter(server, 'a', 'b', 'c', 'd');
    const answer = await listen(server.url, server.sessionId, cursor);
    const text = await answer.until('"d"');
    await answer.close();
    expect(text).not.toContain('"b"');
    const oldest = /^id: (.*)$/m.exec(text)?.[1];
    expect(said(answer.headers, cursor)).toMatchObject({
      status: 'reset',
      received: cursor,
      reason: 'evicted',
      oldest,
    });
  });

  it.each([
    ['a cursor that is not of this log', new SteadyExample(), '4118'],
    ['a cursor whose events are gone', new ClampingStore(), undefined],
  ])('refuses %s where the application chooses so', async (_, store, cursor) => {
    const server = await serve(open, store, { epoch: 'in-memory', onUnsatisfiable: 'refuse' });
    const left = await leaveAfter(server, 'a', 'b', 'c', 'd');
    const answer = await listen(server.url, server.sessionId, cursor ?? left.cursor);
    await answer.close();
    expect(answer.status).toBe(400);
    expect(answer.headers.get('stream-continuity')).toBeNull();
  });

  it('refuses nothing that it can honour', async () => {
    const server = await serve(open, new SteadyExample(), {
      epoch: 'in-memory',
      onUnsatisfiable: 'refuse',
    });
    const { cursor } = await leaveAfter(server, 'first', 'second');
    const resumed = await listen(server.url, server.sessionId, cursor);
    await resumed.until('second');
    await resumed.close();
    expect(said(resumed.headers, cursor)).toMatchObject({ status: 'resumed', from: cursor });
  });

  it('continues the answer to one request by GET, without its priming event', async () => {
    const server = await serve(open, new SteadyExample());
    const call = { id: 7, method: 'tools/call', params: { name: 'count', arguments: {} } };
    const answer = await post(server.url, call, server.sessionId);
    const cursor = lastId(await answer.until('id: '));
    await answer.close();
    await server.left();
    const resumed = await listen(server.url, server.sessionId, cursor);
    const text = await resumed.until('counted');
    await resumed.close();
    expect(text).not.toContain('data: {}');
    expect(said(resumed.headers, cursor)).toMatchObject({ status: 'resumed', from: cursor });
  });
});

describe('withContinuity', () => {
  const send = async () => {};
  const example = (): EventStore => new SteadyExample();

  it('claims nothing of a log that others write and that cannot be asked', async () => {
    const store = withContinuity(example(), { epoch: () => 'shared' });
    const read = store.answering('of-another-process');
    await store.replayEventsAfter('of-another-process', { send });
    expect(read()).toEqual({ status: 'unknown', epoch: 'shared', received: 'of-another-process' });
  });

  it('claims nothing of ids that it has forgotten itself', async () => {
    const store = withContinuity(example(), { epoch: 'in-memory', journal: 1 });
    const forgotten = await store.storeEvent('s', { n: 1 });
    await store.storeEvent('s', { n: 2 });
    const read = store.answering(forgotten);
    await store.replayEventsAfter(forgotten, { send });
    expect(read()).toMatchObject({ status: 'unknown', received: forgotten });
  });

  it('does not vouch for a replay that leaves one event in the middle out', async () => {
    const inner = example();
    const lossy: EventStore = {
      storeEvent: (stream, message) => inner.storeEvent(stream, message),
      replayEventsAfter: (id, { send }) =>
        inner.replayEventsAfter(id, {
          send: async (sent, message) => {
            if (!JSON.stringify(message).includes('3')) await send(sent, message);
          },
        }),
    };
    const store = withContinuity(lossy, IN_MEMORY);
    const first = await store.storeEvent('s', { n: 1 });
    for (const n of [2, 3, 4]) await store.storeEvent('s', { n });
    const read = store.answering(first);
    await store.replayEventsAfter(first, { send });
    expect(read()).toMatchObject({ status: 'reset', received: first, reason: 'incomplete' });
  });

  it('says of the end of a log that nothing was missed', async () => {
    const store = withContinuity(example(), IN_MEMORY);
    const head = await store.storeEvent('s', { n: 1 });
    const read = store.answering(head);
    await store.replayEventsAfter(head, { send });
    expect(read()).toMatchObject({ status: 'resumed', from: head, newest: head, next: undefined });
  });

  it('keeps two answers that are made at once apart', async () => {
    const store = withContinuity(example(), IN_MEMORY);
    const head = await store.storeEvent('s', { n: 1 });
    const answer = async (cursor: string) => {
      const read = store.answering(cursor);
      await store.replayEventsAfter(cursor, { send });
      return read().status;
    };
    expect(await Promise.all([answer(head), answer('nobody')])).toEqual(['resumed', 'reset']);
  });

  it('says nothing of a log that cannot be reached', async () => {
    const epoch = () => Promise.reject(new Error('connection refused'));
    const store = withContinuity(example(), { epoch });
    const head = await store.storeEvent('s', { n: 1 });
    const read = store.answering(head);
    await store.replayEventsAfter(head, { send });
    expect(read()).toMatchObject({ status: 'resumed', epoch: undefined });
  });

  it.each(['replay', 'refuse'] as const)(
    'replays, and claims nothing, where the log cannot be asked: %s',
    async (onUnsatisfiable) => {
      const inner = new MemoryEventStore(10);
      const find = () => Promise.reject(new Error('connection refused'));
      const store = withContinuity(inner, { epoch: () => 'g', find, onUnsatisfiable });
      const first = await store.storeEvent('s', { n: 1 });
      const second = await store.storeEvent('s', { n: 2 });
      const sent: string[] = [];
      const read = store.answering(first);
      expect(await store.getStreamIdForEventId?.(first)).toBe('s');
      await store.replayEventsAfter(first, { send: async (id) => void sent.push(id) });
      expect(sent).toEqual([second]);
      expect(read()).toEqual({ status: 'unknown', epoch: 'g', received: first });
    },
  );

  it('lets a replay fail as it fails without it', async () => {
    const gone = new Error('gone');
    const inner = { storeEvent: async () => '1', replayEventsAfter: () => Promise.reject(gone) };
    const store = withContinuity(inner, IN_MEMORY);
    await store.storeEvent('s', {});
    await expect(store.replayEventsAfter('1', { send })).rejects.toBe(gone);
  });

  it('feeds the gauges of the replay window', async () => {
    const recorder = createRecorder({ name: 'test' });
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter });
    recorder.setMeterProvider(new MeterProvider({ readers: [reader] }));
    const inner = new MemoryEventStore(10);
    const getReplayWindow = () => inner.getReplayWindow();
    const store = withContinuity(inner, { epoch: 'in-memory', getReplayWindow });
    for (const n of [1, 2, 3]) await store.storeEvent('s', { n });
    await reader.forceFlush();
    const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    const points = metrics.flatMap(({ metrics }) =>
      metrics.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints] as const),
    );
    const value = (name: string) => new Map(points).get(name)?.map((point) => point.value);
    expect(value('event_stream.server.replay_window.usage')).toEqual([3]);
    expect(value('event_stream.server.replay_window.limit')).toEqual([10]);
    recorder.disable();
  });

  it.each([
    ['no event store', {}, IN_MEMORY, 'withContinuity: the event store has no storeEvent()'],
    ['no epoch', new SteadyExample(), {}, 'withContinuity: options.epoch is missing'],
  ])('throws when given %s', (_, store, options, message) => {
    expect(() => withContinuity(store as EventStore, options as never)).toThrow(message);
  });
});
