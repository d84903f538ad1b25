import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { atFirstUse } from './first-use.ts';

const CREATE = 'undici:request:create';
const RESPONSE = 'undici:request:headers';

function watch(): { readonly begun: () => number } {
  let count = 0;
  atFirstUse(() => {
    count++;
  });
  return { begun: () => count };
}

function publish(name: string, message: unknown): void {
  channel(name).publish(message);
}

test.each([
  ['undici, which lists headers', CREATE, { headers: ['Accept', 'text/event-stream'] }],
  ['undici, which once wrote them as text', CREATE, { headers: 'last-event-id: 7\r\n' }],
  ['http', 'http.client.request.created', { getHeaders: () => ({ accept: 'text/event-stream' }) }],
  ['http, late', 'http.client.request.start', { getHeaders: () => ({ 'last-event-id': '7' }) }],
])('a request for an event stream is a use of the process: %s', (_, name, request) => {
  const { begun } = watch();
  publish(name, { request });
  expect(begun()).toBe(1);
});

test('an event stream as answer to any request is a use of the process', () => {
  const { begun } = watch();
  const headers = [Buffer.from('Content-Type'), Buffer.from('text/event-stream; charset=utf-8')];
  publish(RESPONSE, { response: { headers } });
  expect(begun()).toBe(1);
});

test('other requests and their answers are none, nor is a message of another shape', () => {
  const { begun } = watch();
  publish(CREATE, { request: { headers: ['accept', 'application/json'] } });
  publish(RESPONSE, { response: { headers: [Buffer.from('content-type: text/html')] } });
  publish('http.client.request.created', { request: {} });
  publish(CREATE, undefined);
  expect(begun()).toBe(0);
  publish('http.server.request.start', {});
  expect(begun()).toBe(1);
});

test('a server that listens is one, a tick later', async () => {
  const { begun } = watch();
  const server = createServer().listen(0, '127.0.0.1');
  expect(begun()).toBe(0);
  await once(server, 'listening');
  expect(begun()).toBe(1);
  server.close();
});

test('there is one first use', () => {
  const { begun } = watch();
  publish('http.server.request.start', {});
  publish('http.server.request.start', {});
  expect(begun()).toBe(1);
});

test('a subscriber that is added by it hears of the request that was it', () => {
  const heard: unknown[] = [];
  const hear = (message: unknown): void => void heard.push(message);
  atFirstUse(() => subscribe(CREATE, hear));
  const message = { request: { headers: 'accept: text/event-stream' } };
  publish(CREATE, message);
  unsubscribe(CREATE, hear);
  expect(heard).toEqual([message]);
});

test('a method that is put before the channel by it is called, and the channel is as before then', () => {
  const target = channel(CREATE);
  const heard: unknown[] = [];
  atFirstUse(() => {
    target.publish = (message) => void heard.push(message);
  });
  const message = { request: { headers: 'accept: text/event-stream' } };
  target.publish(message);
  Reflect.deleteProperty(target, 'publish');
  expect(heard).toEqual([message]);
  expect(target.hasSubscribers).toBe(false);
});

test('who stood before the channel already is still called, and not forever', () => {
  const target = channel(CREATE);
  const heard: unknown[] = [];
  target.publish = (message) => void heard.push(message);
  const { begun } = watch();
  const inner = target.publish;
  target.publish = (message) => inner.call(target, message);
  target.publish({ request: { headers: 'accept: text/event-stream' } });
  target.publish('later');
  Reflect.deleteProperty(target, 'publish');
  expect(begun()).toBe(1);
  expect(heard).toEqual([{ request: { headers: 'accept: text/event-stream' } }, 'later']);
});
