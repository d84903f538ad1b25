import type { Verdict } from '@sameriver/core';
import type { EventStore, ReplayOptions } from '@sameriver/instrumentation-mcp/continuity';
import { stampAnswers, withContinuity } from '@sameriver/instrumentation-mcp/continuity';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  listenAgain,
  OTHER_SERVERS,
  readOne,
} from '../../packages/instrumentation-mcp/test/other-servers.ts';
import { listen } from '../../packages/instrumentation-mcp/test/raw-client.ts';

/*
 * The incidents `mcp-sdk-*` on servers that bring an SDK with them. Neither takes over a session that
 * it does not know, so the one of the adopted session cannot be played on them.
 */

let verdicts: Verdict[] = [];
const instrumentation = new SseInstrumentation({
  server: false,
  reportHook: ({ verdict }) => {
    if (verdict !== undefined) verdicts.push(verdict);
  },
});
const closing: (() => unknown)[] = [];

beforeEach(() => {
  verdicts = [];
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => instrumentation.disable());

/** Forgets the oldest, and sends what is left to whoever asks. */
class WindowStore implements EventStore {
  readonly #limit: number;
  #last = 0;
  #kept: { id: string; stream: string; message: object }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  async storeEvent(stream: string, message: object): Promise<string> {
    this.#last += 1;
    const id = String(this.#last);
    this.#kept = [...this.#kept, { id, stream, message }].slice(-this.#limit);
    return id;
  }

  async replayEventsAfter(cursor: string, { send }: ReplayOptions): Promise<string> {
    const after = this.#kept.filter(({ id }) => Number(id) > Number(cursor));
    for (const { id, message } of after) await send(id, message);
    return after[0]?.stream ?? '_GET_stream';
  }
}

/** An event store, which says how it goes on or says nothing. */
function storeOf(limit: number, proves: boolean): EventStore {
  const window = new WindowStore(limit);
  if (!proves) return window;
  const proving = withContinuity(window, { epoch: 'in-memory' });
  closing.push(stampAnswers(proving, { path: '/mcp' }));
  return proving;
}

describe.each(OTHER_SERVERS)('%s', (_, start) => {
  it.each([
    ['unverifiable', 'no_window', false],
    ['reoriginated', 'reset_signalled', true],
  ] as const)(
    'mcp-sdk-v1-window-evicted-clamped: what was evicted in silence is %s',
    async (classification, reason, proves) => {
      const server = await start(storeOf(3, proves));
      closing.push(() => server.stop());
      const { session, cursor } = await readOne(server);
      for (let told = 0; told < 8; told++) await server.tell();
      const again = await listenAgain(server.url, session, cursor);
      await again.until('data: {');
      await again.close();
      const judged = verdicts.filter((verdict) => verdict.classification !== 'refused');
      expect(judged).toEqual([{ classification, reason }]);
    },
  );

  it.each([
    ['unverifiable', 'no_window', false],
    ['resumed', 'cursor_echoed', true],
  ] as const)(
    'mcp-sdk-v1-two-processes-refused-then-resumed: refused by another instance, then %s',
    async (classification, reason, proves) => {
      const server = await start(storeOf(100, proves));
      const other = await start(new WindowStore(100));
      closing.push(
        () => server.stop(),
        () => other.stop(),
      );
      const { session, cursor } = await readOne(server);
      await server.tell();
      const elsewhere = await listen(other.url, session, cursor);
      expect(elsewhere.status).toBeGreaterThanOrEqual(400);
      const again = await listenAgain(server.url, session, cursor);
      await again.until('data: {');
      await again.close();
      expect(verdicts[0]?.classification).toBe('refused');
      expect(verdicts.at(-1)).toEqual({ classification, reason });
    },
  );
});
