import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createGzip, gunzipSync } from 'node:zlib';
import { readContinuity } from '@sameriver/core';
import { describe, expect, it } from 'vitest';
import { continuityResponse } from './stamp-fetch.ts';
import type { ContinuityOptions } from './stamp-response.ts';
import { continuity } from './stamp-response.ts';

const SSE = { 'content-type': 'text/event-stream' };
const BODY = 'id: 8\ndata: x\n\n';
const FIELD = 'status=unknown, gen="g", received="7"';
const COMMENT = `: stream-continuity ${FIELD}\n\n`;
const EXPOSE = 'access-control-expose-headers';
const ALLOW = { 'access-control-allow-origin': 'https://page.example' };

type Handler = (response: ServerResponse) => void;

interface Answer {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  /** Own properties of the response when it was over. */
  readonly left: readonly string[];
}

interface Asked {
  readonly method?: string;
  readonly cursor?: string | undefined;
  readonly options?: ContinuityOptions;
  readonly before?: Handler;
}

function serve(handler: Handler, { options, before }: Asked, left: string[]): http.RequestListener {
  return (_, response) => {
    before?.(response);
    continuity(response, { epoch: 'g' }, options);
    handler(response);
    response.once('finish', () => {
      left.push(...['writeHead', 'write', 'end'].filter((name) => Object.hasOwn(response, name)));
    });
  };
}

async function listen(server: Server | http2.Http2Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function overHttp1(handler: Handler, asked: Asked = {}): Promise<Answer> {
  const { cursor = '7', method = 'GET' } = asked;
  const left: string[] = [];
  const server = http.createServer(serve(handler, asked, left));
  const port = await listen(server);
  const headers = cursor === '' ? {} : { 'last-event-id': cursor };
  const request = http.request({ port, method, headers, agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  server.close();
  return { headers: response.headers, body, left };
}

async function overHttp2(handler: Handler, asked: Asked = {}): Promise<Answer> {
  const { cursor = '7' } = asked;
  const left: string[] = [];
  const server = http2.createServer((request, response) => {
    serve(handler, asked, left)(request as never, response as never);
  });
  const session = http2.connect(`http://127.0.0.1:${await listen(server)}`);
  const stream = session.request({ ':path': '/', 'last-event-id': cursor });
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  const body = Buffer.concat(await stream.toArray());
  session.close();
  server.close();
  return { headers, body, left };
}

const HEADS: readonly [string, Handler][] = [
  ['writeHead with an object', (r) => r.writeHead(200, SSE).end(BODY)],
  ['writeHead with a message', (r) => r.writeHead(200, 'Fine', SSE).end(BODY)],
  ['writeHead without its message', (r) => r.writeHead(200, undefined, SSE).end(BODY)],
  ['writeHead with a flat array', (r) => r.writeHead(200, Object.entries(SSE).flat()).end(BODY)],
  [
    'setHeader and a bare writeHead',
    (r) => {
      r.setHeader('content-type', 'text/event-stream');
      r.writeHead(200);
      r.end(BODY);
    },
  ],
  [
    'a head implied by write',
    (r) => {
      r.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      r.write(BODY);
      r.end();
    },
  ],
  [
    'a head implied by end',
    (r) => {
      r.setHeader('content-type', 'text/event-stream');
      r.end(BODY);
    },
  ],
  [
    'a head that is flushed before anything is written',
    (r) => {
      r.setHeader('content-type', 'text/event-stream');
      r.flushHeaders();
      setImmediate(() => r.end(BODY));
    },
  ],
  [
    'a stream piped into the response',
    (r) => {
      r.writeHead(200, SSE);
      Readable.from([BODY]).pipe(r);
    },
  ],
];

describe.each([
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
])('continuity(response) over %s', (_, ask) => {
  it.each(HEADS)('stamps %s, and the body is the same behind one comment', async (_, handler) => {
    const { headers, body, left } = await ask(handler);
    expect(headers['stream-continuity']).toBe(FIELD);
    expect(body.toString()).toBe(COMMENT + BODY);
    expect(left).toEqual([]);
  });

  const PLAIN: readonly [string, Handler, Buffer | string][] = [
    ['a refusal', (r) => r.writeHead(409, SSE).end(BODY), BODY],
    ['what is no event stream', (r) => r.writeHead(200, { 'content-type': 'a/b' }).end('x'), 'x'],
    ['what is no event stream, implied', (r) => r.end('x'), 'x'],
  ];
  it.each(PLAIN)('leaves %s alone', async (_, handler, expected) => {
    const { headers, body, left } = await ask(handler);
    expect(headers['stream-continuity']).toBeUndefined();
    expect(body.toString()).toBe(expected.toString());
    expect(left).toEqual([]);
  });
});

describe('continuity(response)', () => {
  it('lets the application speak for itself', async () => {
    const own = { ...SSE, 'Stream-Continuity': 'status=unknown, gen="mine"' };
    const { headers, body } = await overHttp1((r) => r.writeHead(200, own).end(BODY));
    expect(headers['stream-continuity']).toBe('status=unknown, gen="mine"');
    expect(body.toString()).toBe(BODY);
  });

  it('says that a stream begins where no cursor came', async () => {
    const answer = await overHttp1((r) => r.writeHead(200, SSE).end(BODY), { cursor: '' });
    expect(answer.headers['stream-continuity']).toBe('status=initialized, gen="g"');
  });

  it('adds an event without an id where it is asked to, and no comment where it is not', async () => {
    const { body } = await overHttp1((r) => r.writeHead(200, SSE).end(BODY), {
      options: { comment: false, event: true },
    });
    const data = '{"status":"unknown","received":"7","gen":"g"}';
    expect(body.toString()).toBe(`event: stream-continuity\ndata: ${data}\n\n${BODY}`);
  });

  it('writes nothing into a body in a coding of the application', async () => {
    const { headers, body } = await overHttp1((r) => {
      r.writeHead(200, { ...SSE, 'content-encoding': 'gzip' });
      Readable.from([BODY]).pipe(createGzip()).pipe(r);
    });
    expect(headers['stream-continuity']).toBe(FIELD);
    expect(gunzipSync(body).toString()).toBe(BODY);
  });

  it('writes nothing into a body of a promised length', async () => {
    const head = { ...SSE, 'content-length': String(BODY.length) };
    const { headers, body } = await overHttp1((r) => r.writeHead(200, head).end(BODY));
    expect(headers['stream-continuity']).toBe(FIELD);
    expect(body.toString()).toBe(BODY);
  });

  it('leaves a byte order mark where it is one', async () => {
    const marked = `\ufeff${BODY}`;
    const { body } = await overHttp1((r) => r.writeHead(200, SSE).end(marked));
    expect(body.toString()).toBe(marked);
  });

  it('says it on the answer to HEAD, which has no body', async () => {
    const answer = await overHttp1((r) => r.writeHead(200, SSE).end(BODY), { method: 'HEAD' });
    expect(answer.headers['stream-continuity']).toBe(FIELD);
    expect(answer.body).toHaveLength(0);
  });

  it('comes out compressed where a middleware compresses what is written', async () => {
    const before: Handler = (response) => {
      const write = response.write.bind(response);
      response.write = ((chunk: string) => write(chunk.toUpperCase())) as typeof response.write;
    };
    const handler: Handler = (r) => {
      r.writeHead(200, SSE);
      r.write(BODY);
      r.end();
    };
    const { body } = await overHttp1(handler, { before });
    expect(body.toString()).toBe((COMMENT + BODY).toUpperCase());
  });

  const CREDENTIALS = { ...ALLOW, 'access-control-allow-credentials': 'true' };
  it.each([
    ['nothing without an allowed origin', { [EXPOSE]: 'X-A' }, 'X-A'],
    ['the field where an origin is allowed', ALLOW, 'Stream-Continuity'],
    ['the field behind what is exposed', { ...ALLOW, [EXPOSE]: 'X-A' }, 'X-A, Stream-Continuity'],
    ['the field once', { ...ALLOW, [EXPOSE]: 'stream-continuity' }, 'stream-continuity'],
    ['nothing to a star', { ...ALLOW, [EXPOSE]: '*' }, '*'],
    [
      'the field to a star that credentials make void',
      { ...CREDENTIALS, [EXPOSE]: '*' },
      '*, Stream-Continuity',
    ],
  ])('exposes %s', async (_, cors: Record<string, string>, expected) => {
    const given: Handler = (r) => r.writeHead(200, { ...SSE, ...cors }).end(BODY);
    const flat: Handler = (r) => r.writeHead(200, Object.entries({ ...SSE, ...cors }).flat()).end();
    const set: Handler = (r) => {
      for (const [name, value] of Object.entries({ ...SSE, ...cors })) r.setHeader(name, value);
      r.end(BODY);
    };
    for (const handler of [given, flat, set]) {
      const { headers } = await overHttp1(handler);
      expect(headers[EXPOSE]).toBe(expected);
    }
  });

  it('leaves the answer alone where what it was given fails', async () => {
    const handler: Handler = (r) => {
      continuity(r, {
        answering: () => () => {
          throw new Error('the log is gone');
        },
      });
      r.writeHead(200, SSE).end(BODY);
    };
    const { body } = await overHttp1(handler, { before: (r) => r.setHeader('x-a', '1') });
    expect(body.toString()).toBe(COMMENT + BODY);
  });

  it('takes the cursor from where the application has it', async () => {
    const { headers } = await overHttp1((r) => r.writeHead(200, SSE).end(BODY), {
      cursor: '',
      options: { cursor: 'from-the-query' },
    });
    const field = String(headers['stream-continuity']);
    expect(readContinuity(field, 'from-the-query')?.get('received')).toBe('from-the-query');
  });
});

describe('continuityResponse', () => {
  const request = new Request('http://a.example/', { headers: { 'last-event-id': '7' } });

  it('puts the field and the comment before what the handler answers', async () => {
    const stamped = await continuityResponse(request, { epoch: 'g' }, () => {
      return new Response(BODY, { headers: { ...SSE, ...ALLOW } });
    });
    expect(stamped.headers.get('stream-continuity')).toBe(FIELD);
    expect(stamped.headers.get(EXPOSE)).toBe('Stream-Continuity');
    expect(await stamped.text()).toBe(COMMENT + BODY);
  });

  it('hands a cancel on to the body of the application', async () => {
    let reason: unknown;
    const body = new ReadableStream({
      cancel: (why) => {
        reason = why;
      },
    });
    const stamped = await continuityResponse(request, { epoch: 'g' }, () => {
      return new Response(body, { headers: SSE });
    });
    await stamped.body?.cancel('enough');
    expect(reason).toBe('enough');
  });

  it.each([
    ['a refusal', new Response(null, { status: 410, headers: SSE })],
    ['what is no event stream', Response.json({})],
    ['its own word', new Response('', { headers: { ...SSE, 'stream-continuity': 'gen="x"' } })],
  ])('returns the very answer where that is %s', async (_, answer) => {
    expect(await continuityResponse(request, { epoch: 'g' }, () => answer)).toBe(answer);
  });
});
