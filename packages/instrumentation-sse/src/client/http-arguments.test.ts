import http from 'node:http';
import { loopback } from '@sameriver/testkit';
import { describe, expect, test } from 'vitest';
import { requestArguments } from './http-arguments.ts';
import { streamRequestOf } from './node-http-request.ts';

describe.each<readonly [string, (port: number) => unknown[]]>([
  ['a string', (port) => [`http://127.0.0.1:${port}/a?b=1#c`]],
  ['a URL', (port) => [new URL(`http://127.0.0.1:${port}/a?b=1`)]],
  ['a URL and options', (port) => [`http://127.0.0.1:${port}/a`, { method: 'post', path: '/x' }]],
  ['options', (port) => [{ host: '127.0.0.1', port, path: '/a' }]],
  ['hostname before host', (port) => [{ hostname: '127.0.0.1', host: 'nowhere', port: `${port}` }]],
  ['a host header', (port) => [{ host: '127.0.0.1', port, headers: { Host: 'feeds.example' } }]],
  [
    'a whole URL for a proxy',
    (port) => [{ host: '127.0.0.1', port, path: 'http://far.example/f' }],
  ],
  [
    'headers as a list',
    (port) => [
      { host: '127.0.0.1', port, headers: ['Host', `127.0.0.1:${port}`, 'Last-Event-ID', '7'] },
    ],
  ],
])('%s', (_, argumentsFor) => {
  test('reads the same before there is a request as after', async () => {
    const { origin, close } = await loopback((_req, res) => res.end());
    try {
      const args = argumentsFor(Number(new URL(origin).port));
      const before = requestArguments('http:', args);
      const request = (http.request as (...args: unknown[]) => http.ClientRequest)(...args);
      const after = streamRequestOf(request);
      expect(before).toMatchObject({
        method: after.method,
        origin: after.origin,
        target: after.target,
      });
      expect(before?.header('last-event-id')).toBe(after.header('last-event-id'));
      const answered = new Promise((resolve) => request.once('response', resolve));
      request.end();
      expect(await answered).toMatchObject({ statusCode: 200 });
    } finally {
      await close();
    }
  });
});

test('the usual port of a scheme is not part of the origin, and IPv6 stands in brackets', () => {
  expect(requestArguments('https:', [{ host: 'a.example', port: 443 }])?.origin).toBe(
    'https://a.example',
  );
  expect(requestArguments('http:', [{ host: '::1', port: 8080 }])?.origin).toBe(
    'http://[::1]:8080',
  );
  expect(requestArguments('http:', [{}])?.origin).toBe('http://localhost');
});

test('a URL that node:http refuses is left to it', () => {
  expect(requestArguments('http:', ['not a url'])).toBeUndefined();
});
