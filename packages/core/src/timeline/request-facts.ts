import type { HeaderLookup, HeldPosition, StreamRequest, Transport } from '../connection.ts';
import { isStoredAnswer } from '../stored-answer.ts';

/** A request as long as its connection may need it; headers are copied, they belong to the caller. */
export interface RequestFacts {
  readonly transport: Transport;
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: (() => unknown) | undefined;
  readonly client: object | undefined;
  readonly held: HeldPosition | undefined;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** @param names lower-case header names that some profile looks at. */
export function factsOf(request: StreamRequest, names: readonly string[]): RequestFacts {
  const mark = request.target.indexOf('?');
  return {
    transport: request.transport,
    method: request.method.toUpperCase(),
    origin: request.origin.replace(/^ws/, 'http'),
    target: request.target,
    path: mark < 0 ? request.target : request.target.slice(0, mark),
    query: mark < 0 ? NONE : parseQuery(request.target.slice(mark + 1)),
    headers: copyHeaders(names, request.header),
    body: request.body,
    client: request.client,
    held: request.held,
  };
}

export function copyHeaders(
  names: readonly string[],
  lookup: HeaderLookup,
): ReadonlyMap<string, string> {
  let copy: Map<string, string> | undefined;
  for (const name of names) {
    const value = lookup(name);
    if (value !== undefined) {
      copy ??= new Map();
      copy.set(name, value);
    }
  }
  return copy ?? NONE;
}

/** Headers of an answer; what a stored one says of its continuation was said of another request. */
export function copyAnswer(
  names: readonly string[],
  lookup: HeaderLookup,
): ReadonlyMap<string, string> {
  const copy = copyHeaders(names, lookup);
  if (!copy.has('stream-continuity') || !isStoredAnswer(lookup)) return copy;
  return new Map([...copy].filter(([name]) => name !== 'stream-continuity'));
}

/** The first value of a repeated name answers, as in URLSearchParams.get. */
function parseQuery(text: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (name !== '' && !query.has(name)) {
      query.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)));
    }
  }
  return query;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
