import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request as httpRequest } from 'node:http';
import type { Transcript } from '@sameriver/core';
import { parseTranscript } from '@sameriver/core';
import type { ConnectionPart } from '@sameriver/testkit';
import { incidents, transcriptJson } from '@sameriver/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import type { ClientName, SocketClient } from './clients/client.ts';
import { CannotSend } from './clients/client.ts';
import { clientsFor, createClient, createSocketClient } from './clients/create-client.ts';
import type { HandshakeArrival } from './handshake-arrival.ts';
import { play } from './player.ts';
import { startScriptedServer } from './scripted-server.ts';
import type { Watched } from './stage.ts';
import { wireScript } from './wire-script.ts';

const transcriptOf = (...parts: ConnectionPart[]): Transcript =>
  parseTranscript(transcriptJson(...parts));

const cases = incidents().map(({ json }) => parseTranscript(json));

type Played =
  | { readonly kind: 'played'; readonly log: readonly string[] }
  | { readonly kind: 'skipped'; readonly why: string };

async function playOver(via: ClientName, transcript: Transcript): Promise<Played> {
  const script = wireScript(transcript);
  if (script.kind === 'skipped') return script;
  const log: string[] = [];
  const watched = {
    enter: (connection: number) => log.push(`connection ${connection}`),
    follow: (connection: number) => log.push(`followed to ${connection}`),
    elapse: () => log.push('decision timeout'),
  };
  const { stream, socket } = clientsFor(via);
  const client = await createClient(stream);
  const sockets = createSocketClient(socket);
  const server = await startScriptedServer();
  try {
    await play(script.attempts, { client, sockets, server, watched });
    return { kind: 'played', log };
  } catch (error) {
    if (error instanceof CannotSend) return { kind: 'skipped', why: error.message };
    throw error;
  } finally {
    await client.close();
    await sockets.close();
    await server.close();
  }
}

const subscriptions: [string, (message: unknown) => void][] = [];

function onChannel(name: string, listener: (message: never) => void): void {
  subscribe(name, listener as (message: unknown) => void);
  subscriptions.push([name, listener as (message: unknown) => void]);
}

afterEach(() => {
  for (const [name, listener] of subscriptions.splice(0)) unsubscribe(name, listener);
});

/** What the log of a transcript looks like when every connection was made and read to its end. */
function wholeLog({ connections }: Transcript): string[] {
  return connections.flatMap((_, index) => [`connection ${index}`, 'decision timeout']);
}

const EVERYTHING: readonly ClientName[] = ['fetch', 'http', 'undici', 'ws', 'global'];

describe.each(EVERYTHING)('%s plays every incident to its end', (via) => {
  test.each(cases.map((transcript) => [transcript.name, transcript] as const))(
    '%s',
    async (_name, transcript) => {
      const played = await playOver(via, transcript);
      expect(played).toEqual({ kind: 'played', log: wholeLog(transcript) });
    },
  );
});

describe('eventsource plays what an EventSource would do', () => {
  const unsendable: Readonly<Record<string, string>> = {
    'cursor-forgotten-after-empty-resume': 'an EventSource sends GET, never POST',
    'idless-token-stream-replayed-from-start': 'an EventSource sends GET, never POST',
    'mcp-sdk-v1-two-processes-refused-then-resumed': 'an EventSource sends GET, never POST',
    'rule-two-completions-are-no-reconnect': 'an EventSource sends GET, never POST',
    'rule-gateway-503-then-502-during-deploy': 'a fresh EventSource cannot send the cursor "88"',
    'server-says-stop-with-204': 'a fresh EventSource cannot send the cursor "2"',
    'rule-lagging-cursor-meets-other-number-21':
      'this EventSource has the cursor "22", the transcript sends "20"',
  };

  test.each(cases.map((transcript) => [transcript.name, transcript] as const))(
    '%s',
    async (name, transcript) => {
      const why = unsendable[name];
      const expected =
        why === undefined
          ? { kind: 'played', log: wholeLog(transcript) }
          : { kind: 'skipped', why };
      expect(await playOver('eventsource', transcript)).toEqual(expected);
    },
  );
});

test('each frame arrives as a chunk of its own, byte for byte', async () => {
  const chunks: string[] = [];
  onChannel('undici:request:bodyChunkReceived', ({ chunk }: { chunk: Uint8Array }) => {
    chunks.push(Buffer.from(chunk).toString('utf8'));
  });
  const frames = [
    { raw: 'id: 8\r' },
    { raw: '\ndata: é' },
    { id: '9', data: 'x\ny' },
    { raw: '\n' },
  ];
  await playOver('fetch', transcriptOf({ frames, ends: 'reset' }));
  expect(chunks).toEqual(['id: 8\r', '\ndata: é', 'id: 9\ndata: x\ndata: y\n\n', '\n']);
});

test('a reset is a reset for the client, after it has read every frame', async () => {
  const errors: unknown[] = [];
  onChannel('undici:request:error', ({ error }: { error: { code?: string } }) => {
    errors.push(error.code);
  });
  const played = await playOver(
    'undici',
    transcriptOf({ frames: [{ id: '1', data: 'a' }], ends: 'reset' }, { ends: 'reset' }),
  );
  expect(played.kind).toBe('played');
  expect(errors).toEqual(['ECONNRESET', 'ECONNRESET']);
});

test('an open connection outlives its decision timeout and all later connections', async () => {
  const ends: string[] = [];
  onChannel('undici:request:create', ({ request }: { request: { path: string } }) => {
    ends.push(`create ${request.path}`);
  });
  onChannel('undici:request:error', ({ request }: { request: { path: string } }) => {
    ends.push(`broken ${request.path}`);
  });
  const played = await playOver(
    'fetch',
    transcriptOf(
      { frames: [{ data: 'x' }], ends: 'open' },
      { request: { path: '/later' }, ends: 'eof' },
    ),
  );
  expect(played).toEqual({
    kind: 'played',
    log: ['connection 0', 'decision timeout', 'connection 1', 'decision timeout'],
  });
  expect(ends).toEqual(['create /feed', 'create /later', 'broken /feed']);
});

describe('a redirect whose location is the next path is one attempt (L6)', () => {
  const redirected = transcriptOf(
    { frames: [{ id: '5', data: 'x' }], ends: 'reset' },
    {
      request: { headers: { 'last-event-id': '5' } },
      response: { status: 307, headers: { location: 'https://elsewhere.invalid/moved?a=1' } },
    },
    { request: { path: '/moved?a=1', headers: { 'last-event-id': '5' } }, frames: [{ data: 'y' }] },
  );

  test.each(['fetch', 'undici'] as const)(
    '%s follows it, and stays on this machine',
    async (via) => {
      expect(await playOver(via, redirected)).toEqual({
        kind: 'played',
        log: [
          'connection 0',
          'decision timeout',
          'connection 1',
          'followed to 2',
          'decision timeout',
        ],
      });
    },
  );

  test('eventsource follows it', async () => {
    expect((await playOver('eventsource', redirected)).kind).toBe('played');
  });

  test('http follows none', async () => {
    expect(await playOver('http', redirected)).toEqual({
      kind: 'skipped',
      why: 'node:http follows no redirects',
    });
  });

  test.each(['fetch', 'http', 'undici', 'eventsource'] as const)(
    '%s takes a location that leads nowhere in the transcript as the answer',
    async (via) => {
      const transcript = transcriptOf({
        response: { status: 302, headers: { location: 'https://elsewhere.invalid/login' } },
      });
      expect((await playOver(via, transcript)).kind).toBe('played');
    },
  );

  test('a client that takes along a cursor that the transcript drops is skipped', async () => {
    const transcript = transcriptOf(
      {
        request: { headers: { 'last-event-id': '5' } },
        response: { status: 307, headers: { location: '/moved' } },
      },
      { request: { path: '/moved', headers: {} } },
    );
    for (const via of ['fetch', 'undici'] as const) {
      expect(await playOver(via, transcript)).toEqual({
        kind: 'skipped',
        why: 'the client sends last-event-id "5", not ""',
      });
    }
  });

  test('a client that turns POST into GET on the way is not what the transcript says', async () => {
    const transcript = transcriptOf(
      {
        request: { method: 'POST', body: '{}' },
        response: { status: 302, headers: { location: '/moved' } },
      },
      { request: { method: 'POST', path: '/moved' } },
    );
    expect(await playOver('fetch', transcript)).toEqual({
      kind: 'skipped',
      why: 'the client sends GET /moved, not POST /moved',
    });
  });
});

describe('what a library cannot send is a reason, not a failure', () => {
  test.each<[string, ClientName, Transcript, RegExp]>([
    [
      'a cursor beyond Latin-1',
      'fetch',
      transcriptOf({ request: { headers: { 'last-event-id': '事件' } } }),
      /^fetch cannot play this: .*ByteString/,
    ],
    [
      'a header with a line end',
      'http',
      transcriptOf({ request: { headers: { 'last-event-id': 'a\nb' } } }),
      /^http cannot play this: Invalid character in header content/,
    ],
    [
      'a header with a line end',
      'undici',
      transcriptOf({ request: { headers: { 'last-event-id': 'a\nb' } } }),
      /^undici cannot play this: invalid last-event-id header/,
    ],
    [
      'a body with GET',
      'fetch',
      transcriptOf({ request: { body: 'x' } }),
      /^fetch cannot play this: .*GET\/HEAD method cannot have body/,
    ],
    [
      'a path that the client rewrites',
      'fetch',
      transcriptOf({ request: { path: '/a/../b' } }),
      /^the client sends GET \/b, not GET \/a\/\.\.\/b$/,
    ],
  ])('%s (%s)', async (_title, via, transcript, why) => {
    expect(await playOver(via, transcript)).toEqual({
      kind: 'skipped',
      why: expect.stringMatching(why),
    });
  });
});

test('a server may answer with headers and a cursor far beyond the usual sizes', async () => {
  const id = '7'.repeat(100_000);
  const played = await playOver(
    'undici',
    transcriptOf({ request: { headers: { 'last-event-id': id } } }),
  );
  expect(played.kind).toBe('played');
});

describe('a WebSocket', () => {
  const socket = (part: ConnectionPart): ConnectionPart => ({ transport: 'websocket', ...part });

  /** Plays one transcript with a client and a server that tell what they do and what they have. */
  async function conversation(via: ClientName, transcript: Transcript): Promise<string[]> {
    const log: string[] = [];
    const client = await createClient('fetch');
    const library = createSocketClient(clientsFor(via).socket);
    const server = await startScriptedServer();
    const sockets: SocketClient = {
      ...library,
      connect: (request) => {
        const exchange = library.connect(request);
        void exchange.done.then(() => log.push('client is done'));
        return {
          ...exchange,
          send: (text) => {
            log.push(`client says ${text}`);
            exchange.send(text);
          },
          received: async (messages) => {
            await exchange.received(messages);
            log.push(`client has ${messages}`);
          },
        };
      },
    };
    const nextHandshake = async (): Promise<HandshakeArrival> => {
      const arrival = await server.nextHandshake();
      const accept: HandshakeArrival['accept'] = (headers) => {
        const accepted = arrival.accept(headers);
        return {
          ...accepted,
          send: (data) => {
            log.push(`server says ${data}`);
            return accepted.send(data);
          },
          received: async (messages) => {
            await accepted.received(messages);
            log.push(`server has ${messages}`);
          },
        };
      };
      return { ...arrival, accept };
    };
    const script = wireScript(transcript);
    const attempts = script.kind === 'script' ? script.attempts : [];
    const watched = {
      enter: () => {},
      follow: () => {},
      elapse: () => log.push('decision timeout'),
    };
    try {
      await play(attempts, { client, sockets, server: { ...server, nextHandshake }, watched });
    } finally {
      await library.close();
      await server.close();
    }
    return log;
  }

  test.each(['ws', 'global', 'undici'] as const)(
    'is said in its order over %s, each message when the one before has been read',
    async (via) => {
      const frames = [{ recv: 'a' }, { sent: 'b' }, { sent: 'c' }, { recv: 'd' }, { recv: 'e' }];
      expect(await conversation(via, transcriptOf(socket({ frames, ends: 'close:1006' })))).toEqual(
        [
          'server says a',
          'client has 1',
          'client says b',
          'server has 1',
          'client says c',
          'server has 2',
          'server says d',
          'client has 2',
          'server says e',
          'client has 3',
          'client is done',
          'decision timeout',
        ],
      );
    },
  );

  test.each(['ws', 'global', 'undici'] as const)(
    'that stays open over %s outlives its decision timeout and all later connections',
    async (via) => {
      const open = socket({ frames: [{ recv: 'a' }], ends: 'open' });
      const later = socket({ frames: [{ recv: 'b' }], ends: 'reset' });
      expect(await conversation(via, transcriptOf(open, later))).toEqual([
        'server says a',
        'client has 1',
        'decision timeout',
        'server says b',
        'client has 1',
        'client is done',
        'decision timeout',
        'client is done',
      ]);
    },
  );

  test('a client that takes no refusal for an answer is left after a few', async () => {
    const attempts = wireScript(transcriptOf(socket({ response: { status: 401, headers: {} } })));
    const server = await startScriptedServer();
    const never = Promise.withResolvers<void>().promise;
    const headers = { connection: 'upgrade', upgrade: 'websocket' };
    let asked = 0;
    const ask = (): void => {
      const request = httpRequest(`${server.origin}/feed`, { headers, agent: false });
      asked += 1;
      request.on('response', (response) => response.resume().on('end', ask));
      request.on('error', () => {});
      request.end();
    };
    const sockets: SocketClient = {
      connect: () => {
        ask();
        const exchange = { opened: never, done: never, received: () => never };
        return { ...exchange, send: () => {}, abort: () => {} };
      },
      close: () => Promise.resolve(),
    };
    const stage = { client: await createClient('fetch'), sockets, server, watched: UNWATCHED };
    const played = play(attempts.kind === 'script' ? attempts.attempts : [], stage);
    await expect(played).rejects.toThrow('the client takes no 401 for an answer');
    await server.close();
    expect(asked).toBe(6);
  });
});

const UNWATCHED: Watched = { enter: () => {}, follow: () => {}, elapse: () => {} };
