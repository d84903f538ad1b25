import type { LogServer } from '@sameriver/testkit';
import { logServer } from '@sameriver/testkit';
import { EventSource } from 'eventsource';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createGuard } from '../guard.ts';
import { jsonKey } from '../keys.ts';
import { memoryLedger } from '../ledger/memory.ts';
import type { SseEvent } from '../sse-event.ts';

let server: LogServer;
let applied: string[];

beforeEach(async () => {
  server = await logServer();
  applied = [];
});
afterEach(() => server.close());

const effect = ({ data }: SseEvent): void => {
  applied.push(JSON.parse(data).key);
};
/** The library waits three seconds before it reconnects; the server would have to say otherwise. */
function source(fetch: typeof globalThis.fetch = globalThis.fetch): EventSource {
  const hurried: typeof globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const hurry = new Blob(['retry: 1\n\n']).stream();
    const rest = response.body;
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        for await (const chunk of hurry) controller.enqueue(chunk);
        try {
          for await (const chunk of rest ?? []) controller.enqueue(chunk);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
      },
    });
    const passed = new Response(body, response);
    Object.defineProperty(passed, 'url', { value: response.url });
    return passed;
  };
  return new EventSource(server.url, { fetch: hurried });
}

test('Without headers nothing is proven: a reconnect of an EventSource is unverifiable, and it is closed', async () => {
  server.append({ key: 'a' }, { key: 'b' });
  const guard = createGuard({ ledger: memoryLedger() });
  const open = source();
  const listening = guard.listen(open, effect);
  await vi.waitFor(() => expect(applied).toEqual(['a', 'b']));
  server.cut();
  await server.untilAsked(2);
  server.append({ key: 'c' });
  await expect(listening.done).rejects.toMatchObject({ reason: 'unverifiable' });
  expect(applied).toEqual(['a', 'b']);
  expect(open.readyState).toBe(open.CLOSED);
  await guard.close();
});

test('An id that falls back is another stream: keys are compared, and each is applied once', async () => {
  server.append({ key: 'a' }, { key: 'b' }, { key: 'c' });
  const guard = createGuard({ ledger: memoryLedger(), key: jsonKey('/key') });
  const listening = guard.listen(source(), effect);
  await vi.waitFor(() => expect(applied).toEqual(['a', 'b', 'c']));
  server.restart('g2');
  server.behaviour.ignoresCursor = 'replays all';
  server.append({ key: 'b' }, { key: 'd' });
  server.cut();
  await vi.waitFor(() => expect(applied).toEqual(['a', 'b', 'c', 'd']));
  expect(guard.bill).toMatchObject({ reconciled: 2, skipped: 1, applied: 4 });
  listening.close();
  await listening.done;
  await guard.close();
});

test('A server that stamps its continuity as an event is proven to go on, or not to', async () => {
  server.append({ key: 'a' }, { key: 'b' });
  server.behaviour.stamp = 'event';
  const guard = createGuard({ ledger: memoryLedger() });
  const listening = guard.listen(source(), effect);
  await vi.waitFor(() => expect(applied).toEqual(['a', 'b']));
  server.cut();
  await server.untilAsked(2);
  server.append({ key: 'c' });
  await vi.waitFor(() => expect(applied).toEqual(['a', 'b', 'c']));
  expect(guard.bill).toMatchObject({ applied: 3, reconciled: 0, violations: 0 });
  server.restart('g2', 4);
  server.append({ key: 'd' });
  server.cut();
  await expect(listening.done).rejects.toMatchObject({ verdictReason: 'epoch_changed' });
  expect(applied).toEqual(['a', 'b', 'c']);
  await guard.close();
});

test('A fetch of the guard keeps another stream from a source, which takes its 409 for an end', async () => {
  server.append({ key: 'a' }, { key: 'b' });
  const guard = createGuard({ ledger: memoryLedger() });
  const open = source(guard.fetch());
  open.onmessage = ({ data }) => effect({ id: undefined, lastEventId: '', event: 'message', data });
  await vi.waitFor(() => expect(applied).toEqual(['a', 'b']));
  server.restart('g2');
  server.behaviour.ignoresCursor = 'replays all';
  server.append({ key: 'x' });
  const failed = new Promise<number | undefined>((resolve) => {
    open.addEventListener('error', ({ code }) => code !== undefined && resolve(code));
  });
  server.cut();
  expect(await failed).toBe(409);
  expect(open.readyState).toBe(open.CLOSED);
  expect(applied).toEqual(['a', 'b']);
  expect(guard.bill).toMatchObject({ violations: 1, reoriginations: 1 });
  await guard.close();
});

test('A source that takes a fetch is better served by that of the guard', async () => {
  server.append({ key: 'a' });
  const guard = createGuard({ ledger: memoryLedger() });
  const open = source(guard.fetch());
  open.onmessage = ({ data }) => effect({ id: undefined, lastEventId: '', event: 'message', data });
  await vi.waitFor(() => expect(applied).toEqual(['a']));
  server.cut();
  await server.untilAsked(2);
  server.append({ key: 'b' });
  await vi.waitFor(() => expect(applied).toEqual(['a', 'b']));
  expect(guard.bill.violations).toBe(0);
  open.close();
  await guard.close();
});

test('An effect that fails closes the source, and done says with what', async () => {
  server.append({ key: 'a' });
  const guard = createGuard({ ledger: memoryLedger() });
  const open = source();
  const { done } = guard.listen(open, () => {
    throw new Error('no');
  });
  await expect(done).rejects.toThrow('no');
  expect(open.readyState).toBe(open.CLOSED);
  await guard.close();
});

test('Events that pile up behind a slow effect close the source instead of filling the memory', async () => {
  server.append({ key: 'a' }, { key: 'b' }, { key: 'c' });
  const guard = createGuard({ ledger: memoryLedger() });
  const stuck = Promise.withResolvers<void>();
  const { done } = guard.listen(source(), () => stuck.promise, { queued: 1 });
  await expect(done).rejects.toMatchObject({ reason: 'overflow' });
  stuck.resolve();
  await guard.close();
});
