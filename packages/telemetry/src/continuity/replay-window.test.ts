import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { toldWindows } from '../process-windows.ts';
import type { ContinuityEvidence } from './evidence.ts';
import { continuityField } from './evidence.ts';
import { continuityResponse } from './stamp-fetch.ts';
import type { ContinuityOptions } from './stamp-response.ts';
import { continuity } from './stamp-response.ts';

const KEPT = { kind: 'kept', next: '8', oldest: '3', newest: '20' } as const;
const DENSE = { epoch: 'g', dense: true, window: 50 } as const;
const CURSOR = { 'last-event-id': '7' };
const HEAD = { 'content-type': 'text/event-stream' };

afterEach(() => toldWindows.clear());

async function answer(
  evidence: ContinuityEvidence,
  options?: ContinuityOptions,
  status = 200,
): Promise<unknown> {
  const server = createServer((_, response) => {
    continuity(response, evidence, options);
    response.writeHead(status, HEAD).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}/`, { headers: CURSOR })).text();
  server.closeAllConnections();
  server.close();
  return Object.fromEntries(toldWindows);
}

const FULL = { 'stream-continuity': { usage: 18, limit: 50 } };

test('an answer that knows its dense log from oldest to newest tells the fill of the window', async () => {
  expect(await answer({ ...DENSE, found: KEPT })).toEqual(FULL);
});

test('so does one whose cursor is evicted, and a statement of the application', async () => {
  const evicted = { kind: 'evicted', oldest: '9', newest: '58' } as const;
  expect(await answer({ ...DENSE, found: evicted })).toEqual({
    'stream-continuity': { usage: 50, limit: 50 },
  });
  const { oldest, newest } = KEPT;
  expect(await answer({ ...DENSE, status: 'resumed', oldest, newest })).toEqual(FULL);
});

test('the protocol is named by who knows it', async () => {
  const told = await answer({ ...DENSE, found: KEPT }, { protocol: 'orders' });
  expect(told).toEqual({ orders: FULL['stream-continuity'] });
});

test('a handler that returns a Response tells it as well', async () => {
  const request = new Request('http://127.0.0.1/', { headers: CURSOR });
  const respond = (): Response => new Response('', { headers: HEAD });
  await continuityResponse(request, { ...DENSE, found: KEPT }, respond);
  expect(Object.fromEntries(toldWindows)).toEqual(FULL);
});

test.each<readonly [string, ContinuityEvidence]>([
  ['ids with holes', { epoch: 'g', window: 50, found: KEPT }],
  ['no limit', { epoch: 'g', dense: true, found: KEPT }],
  ['no oldest', { ...DENSE, found: { kind: 'kept', next: '8', newest: '20' } }],
  ['no newest', { ...DENSE, found: { kind: 'kept', next: '8', oldest: '3' } }],
  ['ids that are no numbers', { ...DENSE, found: { ...KEPT, oldest: 'a', newest: 'b' } }],
  ['numbers that fall', { ...DENSE, found: { ...KEPT, oldest: '20', newest: '3' } }],
  ['a cursor that nobody looked for', DENSE],
])('%s: nothing is told', async (_, evidence) => {
  expect(await answer(evidence)).toEqual({});
});

test('an answer that is no stream tells nothing, nor does a field that is written by hand', async () => {
  expect(await answer({ ...DENSE, found: KEPT }, {}, 409)).toEqual({});
  continuityField('7', { ...DENSE, found: KEPT });
  expect(Object.fromEntries(toldWindows)).toEqual({});
});
