import {
  Client as ClientTwo,
  StreamableHTTPClientTransport as TransportTwo,
} from '@modelcontextprotocol/client';
import { Client as ClientOne } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportOne } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Guard, StreamResumptionViolation } from '@sameriver/guard';
import { createGuard, memoryLedger } from '@sameriver/guard';
import { freePort } from '@sameriver/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import type { InstanceOptions } from './lib/instance.ts';
import { Instance } from './lib/instance.ts';

/* The event store of the server says how it goes on, and the guard of the client acts on it. */

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Guarded {
  readonly a: Instance;
  readonly guard: Guard;
  readonly heard: string[];
  readonly violations: StreamResumptionViolation[];
  startAgain(options: Partial<InstanceOptions>): Promise<Instance>;
}

const reconnectionOptions = {
  initialReconnectionDelay: 10,
  maxReconnectionDelay: 20,
  reconnectionDelayGrowFactor: 1,
  // A process has to start meanwhile, which takes as long as it takes.
  maxRetries: 10_000,
};

/** A client of one SDK whose fetch is a guard's, with a server of the same SDK. */
async function guarded(sdk: 1 | 2, options: Partial<InstanceOptions> = {}): Promise<Guarded> {
  const port = await freePort();
  const start = async (other: Partial<InstanceOptions>): Promise<Instance> => {
    const instance = await Instance.start({ sdk, port, proves: true, ...options, ...other });
    closing.push(() => instance.kill());
    return instance;
  };
  const a = await start({});
  const guard = createGuard({ ledger: memoryLedger() });
  closing.push(() => guard.close());
  const violations: StreamResumptionViolation[] = [];
  const fetch = guard.fetch({ onViolation: (violation) => violations.push(violation) });
  const heard: string[] = [];
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const info = { name: 'listener', version: '1' };
  if (sdk === 1) {
    const client = new ClientOne(info);
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void heard.push(String(params.data)),
    );
    closing.push(() => client.close());
    await client.connect(new TransportOne(url, { fetch, reconnectionOptions }) as never);
  } else {
    const client = new ClientTwo(info);
    client.setNotificationHandler(
      'notifications/message',
      ({ params }) => void heard.push(String(params.data)),
    );
    closing.push(() => client.close());
    await client.connect(new TransportTwo(url, { fetch, reconnectionOptions }));
  }
  // The standalone stream opens behind the answer to `connect`.
  await soon(async () => {
    await a.notify('hello');
    return heard.length;
  }).toBeGreaterThan(0);
  await a.notify('before');
  await soon(() => heard).toContain('before');
  return { a, guard, heard, violations, startAgain: start };
}

// A hang detector, not an expectation.
function soon<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { timeout: 25_000, interval: 25 });
}

const withoutHello = (heard: readonly string[]): string[] =>
  heard.filter((text) => text !== 'hello');

describe.each([1, 2] as const)('a guard before SDK %d.x, and withContinuity behind it', (sdk) => {
  it('lets a stream through that is proven to go on, and looks nothing up for it', async () => {
    const { a, guard, heard, violations } = await guarded(sdk);
    a.cut();
    await a.notify('missed 1', 'missed 2');
    await soon(() => heard).toContain('missed 2');
    expect(withoutHello(heard)).toEqual(['before', 'missed 1', 'missed 2']);
    expect(a.verdicts).toContainEqual(
      expect.objectContaining({ classification: 'resumed', reason: 'store_replayed' }),
    );
    expect(violations).toEqual([]);
    expect(guard.bill).toMatchObject({ reconciled: 0, violations: 0, reoriginations: 0 });
  });

  it('stops the stream of another instance that took the session over', async () => {
    const { a, guard, heard, violations, startAgain } = await guarded(sdk, { adopts: true });
    await a.kill();
    const b = await startAgain({ start: 4000 });
    await soon(async () => {
      await b.notify('from elsewhere');
      return violations.length;
    }).toBeGreaterThan(0);
    expect(violations[0]).toMatchObject({
      verdictReason: 'epoch_changed',
      standing: 'reoriginated',
    });
    await soon(() => guard.bill.violations).toBeGreaterThan(1);
    expect(withoutHello(heard)).toEqual(['before']);
  });

  it('stops a replay of which the oldest part was evicted in silence', async () => {
    const { a, heard, violations } = await guarded(sdk, { window: 3 });
    a.cut();
    await a.notify(...Array.from({ length: 10 }, (_, i) => `missed ${i}`));
    await soon(() => violations.length).toBeGreaterThan(0);
    expect(violations[0]).toMatchObject({ standing: 'reoriginated' });
    expect(heard).not.toContain('missed 9');
  });
});
