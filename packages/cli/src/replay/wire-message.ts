import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { TranscriptConnection } from '@sameriver/core';

export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Body of an answer that is no event stream: a refusal's JSON, a login page. */
  readonly body: string | undefined;
}

/** What the connections of every transport begin with. */
export interface WireHead {
  /** Of the connection in its transcript. */
  readonly index: number;
  readonly request: WireRequest;
  /** `undefined`: the server says nothing at all (an attempt, not a connection). */
  readonly answer: WireAnswer | undefined;
}

/** Headers that describe how a recorded message was carried; this carriage writes its own. */
const CARRIAGE = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-version',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function wireHead(index: number, { request, response }: TranscriptConnection): WireHead {
  return {
    index,
    request: {
      method: request.method,
      target: request.path,
      headers: carried(request.headers),
      body: bodyText(request.body),
    },
    answer: response && {
      status: response.status,
      headers: carried(response.headers),
      body: bodyText(response.body),
    },
  };
}

/** Why these headers cannot stand in an answer; `undefined` when they can. */
export function badHeader(headers: Readonly<Record<string, string>>): string | undefined {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return undefined;
  } catch (error) {
    return `HTTP cannot carry this answer: ${(error as Error).message}`;
  }
}

function carried(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!CARRIAGE.has(lower)) kept[lower] = value;
  }
  return kept;
}

function bodyText(body: unknown): string | undefined {
  if (body === undefined || typeof body === 'string') return body;
  return JSON.stringify(body);
}
