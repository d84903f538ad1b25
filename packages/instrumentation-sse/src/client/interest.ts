import { headerLookup, isNamed, textIn } from '@sameriver/telemetry';

/**
 * What the tap wants of a request, judged by its head alone.
 *
 * - `follow`: it asks for an event stream, so its attempt is recorded from the start.
 * - `expect`: it takes an event stream among other answers (a call over MCP, say). Most such calls
 *   are answered by plain JSON and are no attempt to connect, so the answer decides.
 * - `watch`: only the content type of the answer is looked at.
 * - `pass`: it has no body to follow.
 */
export type Interest = 'follow' | 'expect' | 'watch' | 'pass';

const EVENT_STREAM = 'text/event-stream';
const WITHOUT_BODY: ReadonlySet<string> = new Set(['HEAD', 'CONNECT', 'OPTIONS', 'TRACE']);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function interestIn(method: string, accept: string | undefined, resumes: boolean): Interest {
  if (WITHOUT_BODY.has(method)) return 'pass';
  if (resumes) return 'follow';
  // Shorter than the media type: spares the common `*/*` the rest.
  if (accept === undefined || accept.length < EVENT_STREAM.length) return 'watch';
  if (isEventStream(accept)) return accept.includes(',') && method !== 'GET' ? 'expect' : 'follow';
  if (!accept.toLowerCase().includes(EVENT_STREAM)) return 'watch';
  return method === 'GET' ? 'follow' : 'expect';
}

/**
 * Whether it is worth asking the timeline about a request that shows no interest in a stream. It is
 * asked about few: a cursor that is in no header is in the query, and a POST without a cursor is a
 * stream of its own (L3) unless it announces a move.
 */
export function mayContinue(method: string, target: string): boolean {
  return method === 'GET' ? target.includes('?') : mayAnnounceMove(method, target);
}

/** M1: `POST /session/{id}/upgrade`. */
export function mayAnnounceMove(method: string, target: string): boolean {
  return method === 'POST' && /\/upgrade(?:\?|$)/.test(target);
}

/** @param upgrade Value of the header, or of the member that undici has in its place. */
export function isHandshake(upgrade: unknown): boolean {
  return typeof upgrade === 'string' && upgrade.toLowerCase() === 'websocket';
}

/** @param mediaType Value of a Content-Type header, with or without parameters. */
export function isEventStream(mediaType: string | undefined): boolean {
  if (mediaType === undefined || mediaType.length < EVENT_STREAM.length) return false;
  const text = mediaType.trimStart();
  if (text.slice(0, EVENT_STREAM.length).toLowerCase() !== EVENT_STREAM) return false;
  const next = text[EVENT_STREAM.length];
  return next === undefined || next === ';' || next === ',' || next === ' ';
}

/** A status that clients follow when a Location comes with it. */
export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/** Called for every response of the process: most of them are told by the length of their type. */
export function carriesEventStream(headers: unknown): boolean {
  if (!Array.isArray(headers)) return isEventStream(headerLookup(headers)('content-type'));
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (!isNamed(headers[i], 'content-type')) continue;
    const type: unknown = headers[i + 1];
    return !isShort(type) && isEventStream(textIn(type));
  }
  return false;
}

function isShort(type: unknown): boolean {
  const text = typeof type === 'string' || type instanceof Uint8Array;
  return text && type.length < EVENT_STREAM.length;
}
