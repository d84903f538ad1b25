import { describe, expect, it } from 'vitest';
import { ShapeError } from '../shape.ts';
import { parseTranscript } from './parse.ts';

const connection = {
  transport: 'sse',
  request: { method: 'GET', path: '/feed', headers: {} },
  response: { status: 200, headers: {} },
  frames: [{ id: '1', data: 'x' }],
  ends: 'eof',
};
const incident = (part: object): unknown => ({ name: 'n', connections: [connection], ...part });
const inConnection = (part: object): unknown =>
  incident({ connections: [{ ...connection, ...part }] });

describe('parseTranscript', () => {
  it.each([
    [[], '(document)', 'an object'],
    [{ connections: [] }, '/name', 'a string'],
    [incident({ connections: {} }), '/connections', 'an array'],
    [inConnection({ transport: 'tcp' }), '/connections/0/transport', 'sse, websocket'],
    [inConnection({ ends: 'close' }), '/connections/0/ends', 'close:CODE'],
    [inConnection({ response: { status: '200' } }), '/connections/0/response/status', '100 to 599'],
    [inConnection({ request: { path: 'feed' } }), '/connections/0/request/path', 'a path from /'],
    [inConnection({ request: { path: '/', headers: { a: 1 } } }), '/request/headers/a', 'a string'],
    [inConnection({ frames: [{ id: 7 }] }), '/connections/0/frames/0/id', 'a string'],
    [inConnection({ frames: [{}] }), '/connections/0/frames/0', 'retry or one of'],
    [inConnection({ frames: [{ recvBase64: '%' }] }), '/frames/0/recvBase64', 'base64'],
    [incident({ options: { identity: ['key'] } }), '/options/identity/0', 'no place'],
    [incident({ options: { reconnectWindow: 'x' } }), '/options/reconnectWindow', 'seconds'],
    [incident({ options: { profiles: [{ nam: 'x' }] } }), '/options/profiles/0/nam', 'unknown key'],
    [incident({ expect: { reconnects: [{ connection: 4 }] } }), '/connection', '0 to 0'],
    [
      incident({ expect: { reconnects: [{ connection: 0, classification: 'ok' }] } }),
      '/classification',
      'resumed',
    ],
  ])('names place and reason: %j', (json, place, reason) => {
    const attempt = (): unknown => parseTranscript(json);
    expect(attempt).toThrow(ShapeError);
    expect(attempt).toThrow(place);
    expect(attempt).toThrow(reason);
  });

  it('takes what the format leaves out', () => {
    const { connections, expect: expected } = parseTranscript(inConnection({ response: null }));
    expect(connections[0]).toMatchObject({ response: undefined });
    expect(expected).toBeUndefined();
  });
});
