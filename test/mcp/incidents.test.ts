import {
  Client as ClientTwo,
  StreamableHTTPClientTransport as TransportTwo,
} from '@modelcontextprotocol/client';
import { Client as ClientOne } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportOne } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { SseInstrumentation } from '@sameriver/instrumentation-sse';
import { BALANCERS, freePort } from '@sameriver/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceOptions, Judged } from './lib/instance.ts';
import { Instance } from './lib/instance.ts';

/*
 * The incidents `mcp-sdk-*` of test/cases, played by the real SDKs: instances in processes of their
 * own, behind real load balancers that know no sessions.
 */

let verdicts: Judged[] = [];
const instrumentation = new SseInstrumentation({
  server: false,
  reportHook: ({ verdict, missed }) => {
    if (verdict !== undefined) verdicts.push({ ...verdict, missed });
  },
});
const closing: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  verdicts = [];
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => instrumentation.disable());

const reconnectionOptions = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 100,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 20,
};

type Hear = (text: string) => void;

async function connect(sdk: 1 | 2, url: URL, hear: Hear): Promise<() => Promise<void>> {
  const info = { name: 'listener', version: '1' };
  if (sdk === 1) {
    const client = new ClientOne(info);
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) =>
      hear(String(params.data)),
    );
    await client.connect(new TransportOne(url, { reconnectionOptions }) as never);
    return () => client.close();
  }
  const client = new ClientTwo(info);
  client.setNotificationHandler('notifications/message', ({ params }) => hear(String(params.data)));
  await client.connect(new TransportTwo(url, { reconnectionOptions }));
  return () => client.close();
}

async function instance(options: InstanceOptions): Promise<Instance> {
  const started = await Instance.start(options);
  closing.push(() => started.kill());
  return started;
}

const numbered = (label: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `${label}${from + i}`);

interface Scene {
  readonly a: Instance;
  readonly heard: string[];
  startB(options?: Partial<InstanceOptions>): Promise<Instance>;
}

/** Instance A with one client behind a balancer; instance B is not up yet. */
async function scene(
  balancer: keyof typeof BALANCERS,
  options: Omit<InstanceOptions, 'port'>,
): Promise<Scene> {
  const ports = [await freePort(), await freePort()] as const;
  const a = await instance({ ...options, port: ports[0] });
  const { origin, close } = await BALANCERS[balancer](ports);
  closing.push(close);
  const heard: string[] = [];
  closing.push(await connect(options.sdk, new URL('/mcp', origin), (text) => heard.push(text)));
  // The standalone stream opens behind the answer to `connect`.
  await soon(async () => {
    await a.notify('hello');
    return heard.length;
  }).toBeGreaterThan(0);
  return {
    a,
    heard,
    startB: (other) => instance({ ...options, port: ports[1], ...other }),
  };
}

// A hang detector, not an expectation: processes start, and balancers notice.
function soon<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { timeout: 25_000, interval: 25 });
}

const EACH_BALANCER = Object.keys(BALANCERS) as (keyof typeof BALANCERS)[];

describe.each(EACH_BALANCER)('behind %s, which knows no sessions', (balancer) => {
  it.each([
    [1, 'cursor_not_advanced', 'cursor_not_advanced', false],
    [2, 'cursor_not_advanced', 'cursor_not_advanced', false],
    [1, 'epoch_changed', 'cursor_unknown', true],
    [2, 'epoch_changed', 'cursor_unknown', true],
  ] as const)(
    'mcp-sdk-v1-adopted-session-counter-at-13: with SDK %d the client sees %s, the server %s',
    async (sdk, client, server, proves) => {
      const { a, heard, startB } = await scene(balancer, {
        sdk,
        start: 4100,
        adopts: true,
        proves,
      });
      await a.notify(...numbered('a', 1, 9));
      await soon(() => heard).toContain('a9');
      const b = await startB({ start: 0 });
      await a.kill();
      await soon(async () => {
        await b.notify('b');
        return verdicts;
      }).toContainEqual({ classification: 'reoriginated', reason: client, missed: 'unknown' });
      await soon(() => heard).toContain('b');
      expect(verdicts.filter(({ classification }) => classification === 'resumed')).toEqual([]);
      await soon(() => b.verdicts).toContainEqual({
        classification: 'reoriginated',
        reason: server,
        missed: 'unknown',
      });
    },
  );

  it.each([
    [1, 'unverifiable', false],
    [2, 'unverifiable', false],
    [1, 'resumed', true],
    [2, 'resumed', true],
  ] as const)(
    'mcp-sdk-v1-two-processes-refused-then-resumed: SDK %d is refused by one and %s by the other',
    async (sdk, outcome, proves) => {
      const { a, heard, startB } = await scene(balancer, { sdk, proves });
      await startB();
      const seen = (): string[] => verdicts.map(({ classification }) => classification);
      let round = 0;
      await soon(async () => {
        round += 1;
        a.cut();
        await a.notify(`missed ${round}`);
        await soon(() => heard).toContain(`missed ${round}`);
        return seen();
      }).toEqual(expect.arrayContaining(['refused', outcome]));
      expect(seen()).not.toContain('reoriginated');
      const said = numbered('missed ', 1, round);
      expect(heard.filter((text) => text.startsWith('missed'))).toEqual(said);
      if (proves) {
        expect(a.verdicts.map(({ reason }) => reason)).toContain('store_replayed');
        expect(verdicts.map(({ reason }) => reason)).toContain('cursor_echoed');
      }
    },
  );

  it.each([
    [1, 'unverifiable', 'no_window', false],
    [2, 'unverifiable', 'no_window', false],
    [1, 'reoriginated', 'reset_signalled', true],
    [2, 'reoriginated', 'reset_signalled', true],
  ] as const)(
    'mcp-sdk-v1-window-evicted-clamped: what SDK %d sends of an evicted window is %s',
    async (sdk, classification, reason, proves) => {
      const { a, heard } = await scene(balancer, { sdk, window: 5, proves });
      await a.notify(...numbered('e', 1, 3));
      await soon(() => heard).toContain('e3');
      a.cut();
      await a.notify(...numbered('e', 4, 23));
      await soon(() => heard).toContain('e23');
      expect(heard).not.toContain('e10');
      expect(verdicts).toContainEqual(expect.objectContaining({ classification, reason }));
      if (proves) {
        await soon(() => a.verdicts).toContainEqual(
          expect.objectContaining({ classification: 'reoriginated', reason: 'window_exceeded' }),
        );
      }
    },
  );
});
