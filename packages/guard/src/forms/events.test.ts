import type { LogServer } from '@sameriver/testkit';
import { logServer } from '@sameriver/testkit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Guard } from '../guard.ts';
import { createGuard } from '../guard.ts';
import { jsonKey } from '../keys.ts';
import type { IdempotencyLedger } from '../ledger/ledger.ts';
import { memoryLedger } from '../ledger/memory.ts';
import type { GuardOptions } from '../types.ts';
import { EffectNotApplied, StreamRefused, StreamResumptionViolation } from '../violation.ts';

let server: LogServer;
let ledger: IdempotencyLedger;
let guards: Guard[];
let applied: string[];

beforeEach(async () => {
  server = await logServer();
  ledger = memoryLedger();
  guards = [];
  applied = [];
});
afterEach(async () => {
  for (const guard of guards) await guard.close();
  await server.close();
});

const atOnce = async (): Promise<void> => {};

/** A guard on the same ledger: what a process is after its restart. */
function guardOf(options: Partial<GuardOptions> = {}): Guard {
  const kept: IdempotencyLedger = Object.create(ledger, { close: { value: atOnce } });
  for (const name of [
    'reserve',
    'takeOver',
    'confirm',
    'release',
    'abandon',
    'advance',
    'position',
    'forget',
  ] as const) {
    Object.defineProperty(kept, name, { value: ledger[name].bind(ledger) });
  }
  const guard = createGuard({ ledger: kept, ...options });
  guards.push(guard);
  return guard;
}

const data = (...names: string[]): Array<{ key: string }> => names.map((key) => ({ key }));

/** Applies events until the one of this name. */
async function applyUntil(guard: Guard, last: string): Promise<void> {
  for await (const event of guard.events(server.url, { retry: 1 })) {
    const { key } = JSON.parse(event.data);
    applied.push(key);
    if (key !== last) continue;
    await event.confirm();
    return;
  }
}

test('resumed: events are applied across connections, each once', async () => {
  server.append(...data('a', 'b'));
  const guard = guardOf();
  const done = applyUntil(guard, 'd');
  await server.untilAsked(1);
  await vi.waitFor(() => expect(applied).toEqual(['a', 'b']));
  server.cut();
  await server.untilAsked(2);
  server.append(...data('c', 'd'));
  await done;
  expect(applied).toEqual(['a', 'b', 'c', 'd']);
  expect(server.cursors).toEqual([undefined, '2']);
  expect(guard.bill).toMatchObject({ applied: 4, skipped: 0, violations: 0 });
});

test('resumed: the next process goes on where the last one confirmed, with the epoch it held', async () => {
  server.append(...data('a', 'b', 'c'));
  await applyUntil(guardOf(), 'b');
  await applyUntil(guardOf(), 'c');
  expect(applied).toEqual(['a', 'b', 'c']);
  expect(server.cursors).toEqual([undefined, '2']);
});

test('reoriginated: with a key each event is applied unless the ledger has it, and the bill says so', async () => {
  server.append(...data('a', 'b'));
  await applyUntil(guardOf(), 'b');
  server.restart('g2');
  server.behaviour.ignoresCursor = 'replays all';
  server.append(...data('b', 'c', 'a', 'd'));
  const told = vi.fn();
  const guard = guardOf({ key: jsonKey('/key'), onReorigination: told });
  // What was applied without a key is known by its place alone.
  await applyUntil(guard, 'd');
  expect(applied).toEqual(['a', 'b', 'b', 'c', 'a', 'd']);
  server.restart('g3');
  server.append(...data('d', 'a', 'e'));
  const later = guardOf({ key: jsonKey('/key') });
  await applyUntil(later, 'e');
  expect(applied.slice(6)).toEqual(['e']);
  expect(told).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({
      reason: 'events_missed',
      verdictReason: 'epoch_changed',
      missed: 'unknown',
    }),
  );
  expect(later.bill).toEqual({
    applied: 1,
    skipped: 2,
    reconciled: 3,
    inDoubt: 0,
    reoriginations: 1,
    confirmations: 0,
    violations: 0,
  });
});

test('reoriginated: without a key nothing is applied and StreamResumptionViolation says what to do', async () => {
  server.append(...data('a', 'b'));
  await applyUntil(guardOf(), 'b');
  server.restart('g2');
  server.behaviour.ignoresCursor = 'replays all';
  server.append(...data('c'));
  const guard = guardOf();
  const failure = await applyUntil(guard, 'c').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StreamResumptionViolation);
  expect(failure).toMatchObject({
    reason: 'no_idempotency_key',
    standing: 'reoriginated',
    verdictReason: 'epoch_changed',
    eventId: '1',
    message: expect.stringMatching(/\/feed \(reoriginated: epoch_changed\).*idempotency key/),
  });
  expect(applied).toEqual(['a', 'b']);
  expect(guard.bill.violations).toBe(1);
});

test('reoriginated: a window that was overrun is a violation, and keeps being one at the next start', async () => {
  server.append(...data('a', 'b'));
  await applyUntil(guardOf(), 'b');
  server.append(...data('c', 'd', 'e'));
  server.behaviour.evicted = 4;
  for (const _ of [1, 2]) {
    await expect(applyUntil(guardOf(), 'e')).rejects.toMatchObject({
      verdictReason: 'window_exceeded',
    });
  }
  expect(applied).toEqual(['a', 'b']);
});

test('reoriginated: what onReorigination throws stops the stream before anything of it is applied', async () => {
  server.append(...data('a', 'b'));
  await applyUntil(guardOf(), 'b');
  server.append(...data('c', 'd', 'e'));
  server.behaviour.evicted = 4;
  const guard = guardOf({
    key: jsonKey('/key'),
    onReorigination: (violation) => {
      throw violation;
    },
  });
  await expect(applyUntil(guard, 'e')).rejects.toMatchObject({
    reason: 'events_missed',
    missed: 2,
    message: expect.stringMatching(/^2 events of .* are lost/),
  });
  expect(applied).toEqual(['a', 'b']);
});

test('unverifiable: nothing is applied, with a key or without', async () => {
  server.behaviour.stamp = 'none';
  server.append(...data('a', 'b', 'c'));
  await applyUntil(guardOf(), 'b');
  for (const key of [undefined, jsonKey('/key')]) {
    await expect(applyUntil(guardOf(key && { key }), 'c')).rejects.toMatchObject({
      reason: 'unverifiable',
      standing: 'unverifiable',
      verdictReason: 'no_epoch',
    });
  }
  expect(applied).toEqual(['a', 'b']);
});

test('unverifiable: confirm() is asked once for a reconnect, and its answer stands for the verdict', async () => {
  server.behaviour.stamp = 'none';
  server.append(...data('a', 'b', 'c', 'd'));
  await applyUntil(guardOf(), 'b');
  const confirm = vi.fn(() => 'resumed' as const);
  const guard = guardOf({ onUnverifiable: confirm });
  await applyUntil(guard, 'd');
  expect(applied).toEqual(['a', 'b', 'c', 'd']);
  expect(confirm).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ cursor: '2', reason: 'no_epoch' }),
  );
  expect(guard.bill.confirmations).toBe(1);
});

test('refused: nothing arrives, and an answer that will not change is an error', async () => {
  server.append(...data('a'));
  await applyUntil(guardOf(), 'a');
  server.behaviour.status = 410;
  await expect(applyUntil(guardOf(), 'b')).rejects.toThrow(StreamRefused);
  server.behaviour.status = 204;
  await applyUntil(guardOf(), 'b');
  expect(applied).toEqual(['a']);
});

test('refused: an answer that may pass is asked again, with the same cursor', async () => {
  server.append(...data('a'));
  await applyUntil(guardOf(), 'a');
  server.behaviour.status = 503;
  const done = applyUntil(
    guardOf({ sleep: (ms) => (ms > 1_000 ? new Promise(() => {}) : atOnce()) }),
    'b',
  );
  await server.untilAsked(4);
  server.append(...data('b'));
  server.behaviour.status = undefined;
  await done;
  expect(applied).toEqual(['a', 'b']);
  expect(new Set(server.cursors.slice(1))).toEqual(new Set(['1']));
});

test('An effect that fails leaves its event in doubt, and the next start asks what became of it', async () => {
  server.append(...data('a', 'b'));
  await applyUntil(guardOf(), 'a');
  const broken = guardOf().run(server.url, () => {
    throw new Error('no answer from the bank');
  });
  await expect(broken).rejects.toThrow('no answer from the bank');
  await expect(applyUntil(guardOf(), 'b')).rejects.toMatchObject({ reason: 'in_doubt' });
  const guard = guardOf({ onInDoubt: () => 'not_applied' });
  await applyUntil(guard, 'b');
  expect(applied).toEqual(['a', 'b']);
  expect(guard.bill).toMatchObject({ applied: 1, inDoubt: 1 });
});

test('An event in doubt that proves to have been applied is passed over', async () => {
  server.append(...data('a', 'b'));
  for await (const event of guardOf().events(server.url)) {
    applied.push(JSON.parse(event.data).key);
    break;
  }
  const guard = guardOf({
    onInDoubt: ({ why }) => (why === 'reserved' ? 'applied' : 'unknown'),
    onUnverifiable: () => 'resumed',
  });
  await applyUntil(guard, 'b');
  expect(applied).toEqual(['a', 'b']);
});

test('An effect that says that nothing has happened gives its event back', async () => {
  server.append(...data('a'));
  await applyUntil(guardOf(), 'a');
  server.append(...data('b'));
  const refused = guardOf().run(server.url, () => {
    throw new EffectNotApplied('the queue is full');
  });
  await expect(refused).rejects.toThrow('the queue is full');
  await applyUntil(guardOf(), 'b');
  expect(applied).toEqual(['a', 'b']);
});

test('Events with one id and different data are different events, equal ones count apart', async () => {
  const frames = ['x', 'y', 'y', 'z'].map((text) => `id: 5\ndata: ${text}\n\n`).join('');
  const fetch: typeof globalThis.fetch = async () =>
    new Response(frames, { headers: { 'content-type': 'text/event-stream' } });
  const seen: string[] = [];
  for await (const { data: text } of guardOf().events('http://localhost/feed', { fetch })) {
    seen.push(text);
    if (text === 'z') break;
  }
  expect(seen).toEqual(['x', 'y', 'y', 'z']);
});

test('A key that the ledger may have forgotten is not applied to another stream in silence', async () => {
  ledger = memoryLedger({ keep: 1 });
  server.append(...data('a', 'b'));
  await applyUntil(guardOf({ key: jsonKey('/key') }), 'b');
  server.restart('g2');
  server.behaviour.ignoresCursor = 'replays all';
  server.append(...data('a'));
  await expect(applyUntil(guardOf({ key: jsonKey('/key') }), 'a')).rejects.toMatchObject({
    reason: 'forgotten',
  });
  const guard = guardOf({
    key: jsonKey('/key'),
    onInDoubt: ({ key }) => (key === 'a' ? 'applied' : 'not_applied'),
  });
  server.append(...data('c'));
  await applyUntil(guard, 'c');
  expect(applied).toEqual(['a', 'b', 'c']);
  expect(guard.bill).toMatchObject({ reconciled: 2, inDoubt: 2, applied: 1, skipped: 1 });
});

test('A ledger that fails stops the stream with its own error, and nothing is applied', async () => {
  server.append(...data('a'));
  ledger.reserve = () => Promise.reject(new Error('disk full'));
  await expect(applyUntil(guardOf(), 'a')).rejects.toThrow('disk full');
  expect(applied).toEqual([]);
});

test('A guard that is closed ends its streams without an error and closes its ledger', async () => {
  server.append(...data('a'));
  const close = vi.fn(atOnce);
  ledger.close = close;
  const guard = createGuard({ ledger });
  const done = applyUntil(guard, 'never');
  await vi.waitFor(() => expect(applied).toEqual(['a']));
  await guard.close();
  await done;
  expect(close).toHaveBeenCalledOnce();
});

test('once: an effect runs once for its key, also when two ask at the same time', async () => {
  const guard = guardOf();
  const effect = vi.fn(atOnce);
  const outcomes = await Promise.all([guard.once('k', effect), guard.once('k', effect)]);
  expect(outcomes.sort()).toEqual(['applied', 'skipped']);
  expect(effect).toHaveBeenCalledOnce();
});
