import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { toldWindows } from '../process-windows.ts';
import type { ContinuityEvidence } from './evidence.ts';
import type { StampOptions } from './stamp-answers.ts';
import { stampAnswers } from './stamp-answers.ts';

const SSE = { 'content-type': 'text/event-stream' };
const BODY = 'id: 8\ndata: x\n\n';
const FIELD = 'status=unknown, gen="g", received="7"';
const COMMENT = `: stream-continuity ${FIELD}\n\n`;
const EXPOSE = 'access-control-expose-headers';

type OnStream = (stream: http2.ServerHttp2Stream) => void;
type Compat = (response: http2.Http2ServerResponse) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

interface Answer {
  readonly headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader;
  readonly body: string;
}

interface Asked extends StampOptions {
  readonly evidence?: ContinuityEvidence;
}

async function ask(server: http2.Http2Server, asked: Asked, method = 'GET') {
  const { evidence = { epoch: 'g' }, ...options } = asked;
  closing.push(stampAnswers(evidence, options), () => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(() => session.close());
  const path = { ':path': '/mcp?a=b', ':method': method, 'last-event-id': '7' };
  const stream = session.request(path).end();
  const [headers] = (await once(stream, 'response')) as [Answer['headers']];
  return { headers, body: Buffer.concat(await stream.toArray()).toString() };
}

const raw =
  (answer: OnStream) =>
  (options: Asked, method?: string): Promise<Answer> =>
    ask(http2.createServer().on('stream', answer), options, method);

const compat =
  (answer: Compat) =>
  (options: Asked, method?: string): Promise<Answer> =>
    ask(
      http2.createServer((_, response) => answer(response)),
      options,
      method,
    );

const PATH = { path: '/mcp' };
const whole: Compat = (response) => {
  response.writeHead(200, SSE);
  response.write(BODY.slice(0, 5));
  response.end(BODY.slice(5));
};

// A channel that Node has from 22.17 on tells of the streams.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
describe.runIf(major > 22 || minor >= 17)('stampAnswers over HTTP/2', () => {
  it.each<[string, ReturnType<typeof raw>]>([
    ['by writeHead of the compatibility API', compat(whole)],
    [
      'without writeHead',
      compat((response) => {
        response.setHeader('content-type', 'text/event-stream');
        response.end(BODY);
      }),
    ],
    [
      'by the core API',
      raw((stream) => {
        stream.respond({ ':status': 200, ...SSE });
        stream.write(BODY.slice(0, 5));
        stream.end(BODY.slice(5));
      }),
    ],
    [
      'by its end alone',
      raw((stream) => {
        stream.respond(SSE);
        stream.end(BODY);
      }),
    ],
  ])('stamps an answer that is given %s, and touches nothing else of it', async (_, serve) => {
    const plain = await serve({ path: '/other' });
    const stamped = await serve(PATH);
    expect(plain.headers['stream-continuity']).toBeUndefined();
    expect(plain.body).toBe(BODY);
    const { date: _plain, ...before } = plain.headers;
    const { date: _stamped, ...after } = stamped.headers;
    expect(after).toEqual({ ...before, 'stream-continuity': FIELD });
    expect(stamped.body).toBe(COMMENT + BODY);
  });

  it('tells the fill of the replay window under the protocol that is named', async () => {
    closing.push(() => toldWindows.clear());
    const found = { kind: 'kept', next: '8', oldest: '3', newest: '20' } as const;
    const evidence = { epoch: 'g', dense: true, window: 50, found } as const;
    await compat(whole)({ ...PATH, evidence });
    await compat(whole)({ ...PATH, evidence, protocol: 'orders' });
    const told = { usage: 18, limit: 50 };
    expect(Object.fromEntries(toldWindows)).toEqual({ 'stream-continuity': told, orders: told });
  });

  it('exposes the field where another origin may read the answer', async () => {
    const origin = { 'access-control-allow-origin': 'https://page.example' };
    const fresh = raw((stream) => {
      stream.respond({ ...SSE, ...origin });
      stream.end(BODY);
    });
    expect((await fresh(PATH)).headers[EXPOSE]).toBe('Stream-Continuity');
    const listed = raw((stream) => {
      stream.respond({ ...SSE, ...origin, [EXPOSE]: 'x-a' });
      stream.end(BODY);
    });
    expect((await listed(PATH)).headers[EXPOSE]).toBe('x-a, Stream-Continuity');
  });

  it.each<[string, ReturnType<typeof raw>, string?]>([
    ['no stream', compat((response) => void response.writeHead(200).end(BODY))],
    ['a refusal', compat((response) => void response.writeHead(410, SSE).end(BODY))],
    [
      'stamped by the application',
      compat(
        (response) => void response.writeHead(200, { ...SSE, 'stream-continuity': 'a' }).end(BODY),
      ),
    ],
  ])('leaves an answer as it is that is %s', async (_, serve) => {
    const { headers, body } = await serve(PATH);
    expect(headers['stream-continuity']).not.toBe(FIELD);
    expect(body).toBe(BODY);
  });

  it('writes no frame where there is no body, or another coding', async () => {
    const head = await compat((response) => void response.writeHead(200, SSE).end())(PATH, 'HEAD');
    expect(head).toMatchObject({ headers: { 'stream-continuity': FIELD }, body: '' });
    const coded = { ...SSE, 'content-encoding': 'x' };
    const other = await compat((response) => void response.writeHead(200, coded).end(BODY))(PATH);
    expect(other).toMatchObject({ headers: { 'stream-continuity': FIELD }, body: BODY });
  });
});
