import { createHash } from 'node:crypto';
import type { Profile } from '@sameriver/core';
import type { StopTap } from '@sameriver/telemetry';
import { createRecorder, startTaps } from '@sameriver/telemetry';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WsPeer } from '../test/harness.ts';
import { connect, rawPeer, STANDARD, untilClosed, WS8, wsPeer } from '../test/harness.ts';
import { startClientTap } from './client/client-tap.ts';
import { decodeBinary } from './decode-binary.ts';
import { startServerTap } from './server/server-tap.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const MEBIBYTE = 1 << 20;

const PROFILES = (
  ['json', 'json-lines', 'json-rs', 'engine.io', 'msgpack', 'msgpack-lp'] as const
).map(
  (messages): Profile => ({
    name: messages,
    match: { transport: 'websocket', path: `^/${messages}` },
    messages,
    cursor: { received: ['json:/id'], codec: 'int' },
    reset: [{ 'json:/*/reset': true }],
  }),
);

const HOSTILE: readonly (readonly [string, string | Buffer])[] = [
  ['ten mebibytes of JSON', `{"data":"${'x'.repeat(10 * MEBIBYTE)}"}`],
  ['ten mebibytes of bytes', Buffer.alloc(10 * MEBIBYTE, 0x91)],
  ['half a million levels', '['.repeat(MEBIBYTE / 2 - 1) + ']'.repeat(MEBIBYTE / 2 - 1)],
  ['a million levels in MessagePack', Buffer.alloc(MEBIBYTE, 0x91)],
  ['an array of four thousand million items', Buffer.from([0xdd, 255, 255, 255, 255])],
  ['attachments without end', `45${'9'.repeat(MEBIBYTE / 2)}-["x",{"_placeholder":true}]`],
  ['half a record', '{"type":9}\u001e{"type":1,"tar'],
];

let stop: StopTap;
let faults: unknown[];
let peer: Pick<WsPeer, 'close'> | undefined;

beforeEach(() => {
  faults = [];
  const recorder = createRecorder({ name: 'test' });
  vi.spyOn(recorder, 'instrumentationError').mockImplementation((reason) => {
    faults.push(reason);
  });
  stop = startTaps(
    'websocket',
    { client: startClientTap, server: startServerTap },
    {
      profiles: PROFILES,
      identity: 'canonical-json',
      decodeBinary,
    },
    recorder,
  );
});

afterEach(async () => {
  stop();
  await peer?.close();
  peer = undefined;
});

const digest = (data: string | Buffer): string => createHash('sha1').update(data).digest('hex');

describe.each([...STANDARD.slice(0, 1), WS8])('a WebSocket of $name', (client) => {
  test.each(HOSTILE)('brings %s to its listener, and is followed on', async (_, data) => {
    const made = await wsPeer((socket) => {
      socket.send(data);
      socket.send('{"id":7}');
      socket.close(1000);
    });
    peer = made;
    for (const { name } of PROFILES) {
      const socket = connect(client, `${made.url}/${name}`);
      socket.binaryType = 'arraybuffer';
      const got: string[] = [];
      socket.addEventListener('message', ({ data: came }) => {
        got.push(digest(typeof came === 'string' ? came : Buffer.from(came as ArrayBuffer)));
      });
      await untilClosed(socket);
      expect(got).toEqual([digest(data), digest('{"id":7}')]);
    }
    expect(faults).toEqual([]);
  });

  test('closes with 1007 after text that is no UTF-8, and is followed to that end', async () => {
    const made = await rawPeer((socket, _path, key) => {
      const accept = createHash('sha1')
        .update(key + GUID)
        .digest('base64');
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
          `sec-websocket-accept: ${accept}\r\n\r\n`,
      );
      socket.write(Buffer.from([0x81, 3, 0xff, 0xfe, 0xfd]));
      socket.on('data', () => socket.end());
    });
    peer = made;
    await untilClosed(connect(client, `${made.url}/json`));
    expect(faults).toEqual([]);
  });
});
