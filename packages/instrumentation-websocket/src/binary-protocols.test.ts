import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { StreamReport } from '@sameriver/core';
import type { StopTap } from '@sameriver/telemetry';
import { createRecorder, startTaps } from '@sameriver/telemetry';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WsPeer } from '../test/harness.ts';
import { connect, untilClosed, WS8, wsPeer } from '../test/harness.ts';
import { startClientTap } from './client/client-tap.ts';
import { decodeBinary } from './decode-binary.ts';
import { startServerTap } from './server/server-tap.ts';

const { encode } = createRequire(import.meta.url)('@msgpack/msgpack') as {
  encode(value: unknown): Uint8Array;
};

interface Frame {
  readonly recv?: string;
  readonly sent?: string;
}
interface Incident {
  readonly connections: readonly {
    readonly request: { readonly path: string };
    readonly frames: readonly Frame[];
  }[];
  readonly expect: { readonly reconnects: readonly Record<string, unknown>[] };
}

/** How a protocol writes in binary what it writes as JSON too. */
type Encoding = (text: string) => string | Uint8Array;

interface HubMessage {
  readonly type?: number;
  readonly target?: string;
  readonly arguments?: readonly unknown[];
  readonly sequenceId?: number;
}

const ably: Encoding = (text) => encode(JSON.parse(text));

const signalr: Encoding = (text) => {
  const messages = text.split('\u001e').slice(0, -1);
  const parsed = messages.map((message) => JSON.parse(message) as HubMessage);
  // The handshake stays JSON, here as the text and the bytes that real peers send.
  if (text.includes('"protocol"')) return text.replace('"json"', '"messagepack"');
  if (parsed.some(({ type }) => type === undefined)) return Buffer.from(text);
  return Buffer.concat(
    parsed.map(({ type, target, arguments: given, sequenceId }) => {
      const rest = target === undefined ? [sequenceId] : [{}, null, target, given, []];
      const bytes = encode(type === 6 ? [6] : [type, ...rest]);
      return Buffer.concat([Buffer.from([bytes.length]), bytes]);
    }),
  );
};

let stop: StopTap;
let reports: StreamReport[];
let heard: () => void;
let peer: WsPeer | undefined;

beforeEach(() => {
  reports = [];
  heard = () => undefined;
  stop = startTaps(
    'websocket',
    { client: startClientTap, server: startServerTap },
    {
      server: false,
      decodeBinary,
      reportHook: (report) => {
        if (report.verdict === undefined) return;
        reports.push(report);
        heard();
      },
    },
    createRecorder({ name: 'test' }),
  );
});

afterEach(async () => {
  stop();
  await peer?.close();
  peer = undefined;
});

function incident(name: string): Incident {
  const file = new URL(`../../../test/cases/rules/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Incident;
}

/** Each side says its lines when it has heard all that stand before them. */
function speaks(
  frames: readonly Frame[],
  line: 'recv' | 'sent',
  say: (text: string) => void,
): () => void {
  let at = 0;
  const on = (): void => {
    for (; at < frames.length; at += 1) {
      const text = frames[at]?.[line];
      if (text === undefined) return;
      say(text);
    }
  };
  on();
  return () => {
    at += 1;
    on();
  };
}

async function play({ connections }: Incident, encoding: Encoding): Promise<void> {
  const scripts = connections.map(({ frames }) => frames);
  const made = await wsPeer((socket) => {
    const frames = scripts.shift() ?? [];
    socket.on(
      'message',
      speaks(frames, 'recv', (text) => socket.send(encoding(text))),
    );
  });
  peer = made;
  for (const { request, frames } of connections) {
    const path = request.path.replace('format=json', 'format=msgpack');
    const socket = connect(WS8, `${made.url}${path}`);
    const closed = untilClosed(socket);
    await new Promise<void>((resolve) => {
      let left = frames.length;
      const done = (): void => {
        left -= 1;
        if (left === 0) resolve();
      };
      socket.addEventListener('open', () => {
        const next = speaks(frames, 'sent', (text) => {
          socket.send(encoding(text));
          done();
        });
        socket.addEventListener('message', () => {
          done();
          next();
        });
      });
    });
    for (const accepted of made.wss.clients) accepted.terminate();
    await closed;
  }
}

test.each([
  ['ably-channel-resumed', ably],
  ['ably-new-connection', ably],
  ['signalr-sequence-continues', signalr],
  ['signalr-gap-announced-before-any-message', signalr],
] as const)('%s comes to the same verdict in MessagePack', async (name, encoding) => {
  const { connections, expect: expected } = incident(name);
  await play({ connections, expect: expected }, encoding);
  while (reports.length === 0) {
    await new Promise<void>((resolve) => {
      heard = resolve;
    });
  }
  const { classification, reason, missed } = expected.reconnects[0] ?? {};
  expect(reports.at(-1)).toMatchObject({ verdict: { classification, reason }, missed });
});
