import { textTagOf } from '../id-tag.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Whereabouts } from './logical-stream.ts';
import type { RequestFacts } from './request-facts.ts';

/** Names under which a position travels in queries; they leave the key and prove nothing (L4). */
const POSITION_NAMES: ReadonlySet<string> = new Set([
  'since',
  'after',
  'after_seq',
  'cursor',
  'offset',
  'from',
  'start',
  'seq',
  'lasteventid',
  'last_event_id',
]);

/** Rotating credentials must not make two streams of one. */
const CREDENTIAL_NAMES: ReadonlySet<string> = new Set([
  'access_token',
  'api_key',
  'apikey',
  'auth',
  'authorization',
  'credential',
  'jwt',
  'key',
  'password',
  'secret',
  'sig',
  'signature',
  'ticket',
  'token',
]);

/** Engine.IO names each of its connections anew, and some of its requests: none is part of the key. */
const ENGINE_IO_NAMES: ReadonlySet<string> = new Set(['sid', 't']);

/**
 * 52 bits that stand for a key: keys never leave the process in clear text (L4), and a number in an
 * index costs a tenth of the text. Two of a million keys fall together once in 9,000 processes.
 */
export function keyTagOf(key: string): number {
  return textTagOf(key) * 2 ** 21 + (textTagOf(`${key.length} ${key}`) >>> 10);
}

const SESSION_HEADER = 'mcp-session-id';
const SESSION_PATH = /\/sessions?\/([^/]+)\//;

/** M1: what tells on any path which session a request belongs to. */
export function sessionOf({
  headers,
  path,
}: Pick<RequestFacts, 'headers' | 'path'>): string | undefined {
  return headers.get(SESSION_HEADER) ?? SESSION_PATH.exec(path)?.[1];
}

/**
 * L4. Two requests with one key ask for one logical stream. In clear text, so it stays in memory.
 * A profile's `key` replaces method and path.
 */
export function keyOf(request: RequestFacts, profile: CompiledProfile | undefined): string {
  const match = profile?.key?.exec(request.path);
  const where = match
    ? `${profile?.name} ${match.slice(1).join('/')}`
    : `${request.method} ${request.path}`;
  const session = request.headers.get(SESSION_HEADER) ?? '';
  return `${request.origin} ${where} ${queryPart(request, profile)} ${session}`;
}

export function whereaboutsOf(request: RequestFacts): Whereabouts {
  const session = sessionOf(request);
  return {
    place: keyTagOf(placeOf(request)),
    origin: textTagOf(request.origin),
    session: session === undefined ? 0 : textTagOf(session),
  };
}

/** Origin and path whatever method and session header: where L1 looks second. */
export function placeOf(request: RequestFacts): string {
  return `${request.origin} ${request.path}`;
}

function queryPart({ query }: RequestFacts, profile: CompiledProfile | undefined): string {
  if (query.size === 0) return '';
  const kept: string[] = [];
  const isEngineIo = query.has('EIO');
  for (const [name, value] of query) {
    const lower = name.toLowerCase();
    const isPosition = profile ? profile.positionQueries.includes(name) : POSITION_NAMES.has(lower);
    if (isEngineIo && ENGINE_IO_NAMES.has(name)) continue;
    if (!isPosition && !CREDENTIAL_NAMES.has(lower)) kept.push(`${name}=${value}`);
  }
  return kept.sort().join('&');
}
