import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { debianPackage } from './debian-package.ts';
import { redisServer } from './redis-server.ts';

test('Redis comes from its Debian package and answers on the loopback interface', async () => {
  const redis = await redisServer();
  try {
    const socket = connect(Number(new URL(redis.url).port), '127.0.0.1');
    socket.end('PING\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toBe('+PONG\r\n');
  } finally {
    await redis.close();
  }
}, 120_000);

test('A program that is there is not installed again, and one that no package brings is named', async () => {
  expect(await debianPackage('dash', 'sh')).toMatch(/\/sh$/);
  await expect(debianPackage('no-such-package-at-all')).rejects.toThrow(
    /no-such-package-at-all is not installed/,
  );
}, 120_000);
