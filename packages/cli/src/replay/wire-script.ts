import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Transcript, TranscriptConnection } from '@sameriver/core';
import { encodeSseFrame, isFollowed } from '@sameriver/core';

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
  /** Sent one by one, each as a chunk of its own. */
  readonly frames: readonly Uint8Array[];
}

/** `reset`: RST. `open`: until everything else is over. */
type WireEnd = 'eof' | 'reset' | 'open';

/** One connection of the transcript. */
export interface Hop {
  readonly index: number;
  readonly request: WireRequest;
  /** `undefined`: the server says nothing at all (an attempt, not a connection). */
  readonly answer: WireAnswer | undefined;
  readonly ends: WireEnd;
}

/** What a client does as one: its redirects, then the answer that counts (L6). Never empty. */
export interface Attempt {
  readonly hops: readonly [Hop, ...Hop[]];
}

export type WireScript =
  | { readonly kind: 'script'; readonly attempts: readonly Attempt[] }
  | { readonly kind: 'skipped'; readonly why: string };

/** Headers that describe how a recorded message was carried; this carriage writes its own. */
const CARRIAGE = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const ENDS: readonly WireEnd[] = ['eof', 'reset', 'open'];

const BODILESS = new Set([204, 205, 304]);

/**
 * Turns a transcript into what a scripted server and a client do over HTTP.
 *
 * @returns The attempts in file order, or why HTTP cannot carry this transcript.
 */
export function wireScript(transcript: Transcript): WireScript {
  const { connections } = transcript;
  const attempts: [Hop, ...Hop[]][] = [];
  let followed = false;
  for (const [index, connection] of connections.entries()) {
    const why = unsendable(connection);
    if (why !== undefined) return { kind: 'skipped', why };
    const hop = toHop(index, connection);
    const last = attempts.at(-1);
    if (followed && last !== undefined) last.push(hop);
    else attempts.push([hop]);
    followed = isFollowed(connection, connections[index + 1]);
  }
  if (attempts.some(leavesTheTranscript)) {
    return { kind: 'skipped', why: 'a client that follows redirects would leave the transcript' };
  }
  return { kind: 'script', attempts: attempts.map((hops) => ({ hops })) };
}

/** A replay stays on this machine: nobody may follow a redirect whose next hop is not recorded. */
function leavesTheTranscript(hops: readonly Hop[]): boolean {
  const answer = hops.at(-1)?.answer;
  if (hops.length === 1 || answer === undefined) return false;
  return answer.status >= 300 && answer.status <= 399 && answer.headers['location'] !== undefined;
}

function unsendable(connection: TranscriptConnection): string | undefined {
  const { transport, request, response, frames, ends } = connection;
  if (transport === 'websocket') {
    return 'WebSocket replay comes with @sameriver/instrumentation-websocket';
  }
  if (wireEnd(ends) === undefined) return `no HTTP response ends with ${ends}`;
  if (response === undefined) return undefined;
  const { status } = response;
  if (status < 200) return `HTTP has no final answer with status ${status}`;
  if (isBodiless(connection) && frames.length > 0) {
    return `the answer ${status} to ${request.method} has no body that could carry frames`;
  }
  return badHeader(response.headers);
}

function badHeader(headers: Readonly<Record<string, string>>): string | undefined {
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

function isBodiless({ request, response }: TranscriptConnection): boolean {
  return response !== undefined && (BODILESS.has(response.status) || request.method === 'HEAD');
}

function wireEnd(ends: TranscriptConnection['ends']): WireEnd | undefined {
  return ENDS.find((known) => known === ends);
}

function toHop(index: number, connection: TranscriptConnection): Hop {
  const { request, response, frames, ends } = connection;
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
      frames: frames
        .map(encodeSseFrame)
        .filter((text) => text !== '')
        .map(utf8),
    },
    // Without a body the client is done with the headers, and may use the socket again at once.
    ends: isBodiless(connection) ? 'eof' : (wireEnd(ends) ?? 'reset'),
  };
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

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}
