import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Loopback } from '@sameriver/testkit';
import { loopback } from '@sameriver/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Balancer } from './balancer.ts';
import { startBalancer } from './balancer.ts';

let balancer: Balancer;
let servers: Loopback[];
let answers: ServerResponse[];

beforeEach(async () => {
  answers = [];
  servers = await Promise.all(
    ['A', 'B'].map((name) =>
      loopback((_request, response) => {
        answers.push(response);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${name}\n\n`);
      }),
    ),
  );
  balancer = await startBalancer();
  for (const { origin } of servers) balancer.servers.push(Number(new URL(origin).port));
});

afterEach(async () => {
  await balancer.close();
  for (const server of servers) await server.close();
});

async function open(headers: Record<string, string> = {}) {
  const passing = balancer.nextStream();
  const { body } = await fetch(balancer.origin, { headers });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  return { passing: await passing, reader };
}

test('each request goes where the route points, whoever makes it', async () => {
  const { reader: first } = await open();
  balancer.route = 1;
  const { reader: second, passing } = await open({ 'last-event-id': '7' });
  expect((await first.read()).value).toBe('data: A\n\n');
  expect((await second.read()).value).toBe('data: B\n\n');
  expect(passing).toMatchObject({ status: 200, cursor: '7' });
});

test('a connection that is cut and closed is closed to the server too', async () => {
  const { passing, reader } = await open();
  const closed = once(answers[0]!, 'close');
  passing.cut('close');
  await closed;
  await expect(reader.read().then(() => reader.read())).rejects.toThrow('terminated');
});

test('a connection that is half dead is still read from the server', async () => {
  const { passing, reader } = await open();
  await reader.read();
  passing.cut('keep reading');
  await expect(reader.read()).rejects.toThrow('terminated');
  const [answer] = answers;
  // More than the buffers between the two would take if nobody read.
  const megabytes = 'x'.repeat(8 << 20);
  await new Promise((resolve) => answer!.write(megabytes, resolve));
  expect(answer!.destroyed).toBe(false);
});
