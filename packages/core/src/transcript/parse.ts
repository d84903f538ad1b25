import type { ConnectionEnd } from '../connection.ts';
import { parsePlace } from '../profile/place.ts';
import { validateProfile } from '../profile/validate.ts';
import type { Json } from '../shape.ts';
import { array, integer, object, oneOf, optionalText, ShapeError, text, texts } from '../shape.ts';
import type { Identity } from '../timeline/engine.ts';
import type { Count } from '../verdict.ts';
import type {
  ExpectedReconnect,
  Transcript,
  TranscriptConnection,
  TranscriptFrame,
} from './transcript.ts';

const ENDS = /^(?:eof|reset|open|close:\d{4})$/;
const CLASSIFICATIONS = ['resumed', 'reoriginated', 'unverifiable', 'refused'] as const;
const FRAME_TEXTS = [
  'id',
  'event',
  'data',
  'comment',
  'raw',
  'recv',
  'recvBase64',
  'sent',
] as const;
const IDENTITIES = ['payload', 'id', 'canonical-json'] as const;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Checks one incident, as `JSON.parse` gives it.
 * @throws ShapeError naming the place and the reason.
 */
export function parseTranscript(value: unknown): Transcript {
  const root = object(value, '');
  const connections = array(root['connections'], '/connections').map((item, index) =>
    parseConnection(item, `/connections/${index}`),
  );
  const source = optionalText(root['source'], '/source');
  const kind = optionalText(root['kind'], '/kind');
  return {
    name: text(root['name'], '/name'),
    ...(source !== undefined && { source }),
    ...(kind !== undefined && { kind }),
    connections,
    options: root['options'] === undefined ? {} : parseOptions(root['options']),
    expect:
      root['expect'] === undefined ? undefined : parseExpect(root['expect'], connections.length),
  };
}

function parseOptions(value: unknown): Transcript['options'] {
  const { profiles, identity, reconnectWindow } = object(value, '/options');
  if (reconnectWindow !== undefined && !(Number(reconnectWindow) >= 0)) {
    throw new ShapeError('/options/reconnectWindow', 'expected seconds, a number of at least 0');
  }
  return {
    ...(profiles !== undefined && {
      profiles: array(profiles, '/options/profiles').map((profile, index) =>
        validateProfile(profile, `/options/profiles/${index}`),
      ),
    }),
    ...(identity !== undefined && { identity: parseIdentity(identity) }),
    ...(reconnectWindow !== undefined && { reconnectWindow: Number(reconnectWindow) }),
  };
}

function parseIdentity(value: unknown): Identity {
  const at = '/options/identity';
  if (typeof value === 'string') return oneOf(value, at, IDENTITIES);
  return texts(value, at).map((place, index) => {
    try {
      parsePlace(place);
    } catch (error) {
      throw new ShapeError(`${at}/${index}`, (error as Error).message);
    }
    return place;
  });
}

function parseConnection(value: unknown, at: string): TranscriptConnection {
  const connection = object(value, at);
  const request = object(connection['request'], `${at}/request`);
  const ends = connection['ends'] === undefined ? 'eof' : text(connection['ends'], `${at}/ends`);
  if (!ENDS.test(ends)) {
    throw new ShapeError(`${at}/ends`, `expected eof, reset, open or close:CODE, found "${ends}"`);
  }
  const transport = oneOf(connection['transport'], `${at}/transport`, ['sse', 'websocket']);
  return {
    transport,
    request: {
      method: text(request['method'] ?? 'GET', `${at}/request/method`),
      path: parsePath(request['path'], `${at}/request/path`),
      headers: parseHeaders(request['headers'], `${at}/request/headers`),
      ...(request['body'] !== undefined && { body: request['body'] }),
    },
    response: parseResponse(connection['response'], `${at}/response`),
    frames: array(connection['frames'] ?? [], `${at}/frames`).map((frame, index) =>
      parseFrame(frame, `${at}/frames/${index}`),
    ),
    ends: ends as ConnectionEnd,
  };
}

function parsePath(value: unknown, at: string): string {
  const path = text(value, at);
  if (!path.startsWith('/')) throw new ShapeError(at, `expected a path from /, found "${path}"`);
  return path;
}

function parseResponse(value: unknown, at: string): TranscriptConnection['response'] {
  if (value === undefined || value === null) return undefined;
  const response = object(value, at);
  return {
    status: integer(response['status'], `${at}/status`, 100, 599),
    headers: parseHeaders(response['headers'], `${at}/headers`),
    ...(response['body'] !== undefined && { body: response['body'] }),
  };
}

function parseHeaders(value: unknown, at: string): Readonly<Record<string, string>> {
  const headers: Json = value === undefined ? {} : object(value, at);
  return Object.fromEntries(
    Object.entries(headers).map(([name, header]) => [name, text(header, `${at}/${name}`)]),
  );
}

function parseFrame(value: unknown, at: string): TranscriptFrame {
  const frame = object(value, at);
  for (const name of FRAME_TEXTS) optionalText(frame[name], `${at}/${name}`);
  if (frame['retry'] !== undefined) {
    integer(frame['retry'], `${at}/retry`, 0, Number.MAX_SAFE_INTEGER);
  }
  const isKnown = 'retry' in frame || FRAME_TEXTS.some((name) => name in frame);
  if (!isKnown) throw new ShapeError(at, `expected retry or one of ${FRAME_TEXTS.join(', ')}`);
  if (frame['recvBase64'] !== undefined && !BASE64.test(String(frame['recvBase64']))) {
    throw new ShapeError(`${at}/recvBase64`, 'expected base64');
  }
  return frame as TranscriptFrame;
}

function parseExpect(value: unknown, connections: number): ExpectedReconnect[] {
  const reconnects = object(value, '/expect')['reconnects'];
  return array(reconnects, '/expect/reconnects').map((item, index) => {
    const at = `/expect/reconnects/${index}`;
    const entry = object(item, at);
    integer(entry['connection'], `${at}/connection`, 0, connections - 1);
    oneOf(entry['classification'], `${at}/classification`, CLASSIFICATIONS);
    for (const name of ['stream', 'reason', 'why']) optionalText(entry[name], `${at}/${name}`);
    for (const name of ['missed', 'duplicates']) parseCount(entry[name], `${at}/${name}`);
    return entry as unknown as ExpectedReconnect;
  });
}

function parseCount(value: unknown, at: string): Count | undefined {
  if (value === undefined || value === 'unknown') return value;
  return integer(value, at, 0, Number.MAX_SAFE_INTEGER);
}
