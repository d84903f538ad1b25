import type { Position } from '../cursor/position.ts';

/** Members of a `Stream-Continuity` field that passed every check (see `continuity.ts`). */
export type ContinuityMembers = ReadonlyMap<string, string | number | boolean>;

export type Lookup = (name: string) => string | undefined;

/** Everything a place or a condition may look at, at one moment. Absent parts read as absent. */
export interface Subject {
  readonly requestHeader?: Lookup | undefined;
  readonly query?: Lookup | undefined;
  /** JSON messages of the client; the latest that has the pointer answers. */
  readonly sentJson?: ((pointer: Pointer) => unknown) | undefined;
  readonly responseHeader?: Lookup | undefined;
  readonly continuity?: ContinuityMembers | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  readonly close?: number | undefined;
  readonly sse?: SseFields | undefined;
  readonly json?: unknown;
  /** A member of `json`, for those who can tell it without the rest. */
  readonly member?: ((name: string) => unknown) | undefined;
  readonly position?: Position | undefined;
}

export interface SseFields {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string | undefined;
}

/** RFC 6901 tokens; `-1` is the last element, `*` every member. */
export type Pointer = readonly string[];

export type PlaceSource =
  | 'continuity'
  | 'header'
  | 'req-header'
  | 'query'
  | 'sse'
  | 'json'
  | 'sent-json'
  | 'codec'
  | 'path'
  | 'status'
  | 'close';

/** Sources that only the server can fill: a sign from one of them is a sign from the server. */
export const SERVER_SOURCES: ReadonlySet<PlaceSource> = new Set<PlaceSource>([
  'continuity',
  'header',
  'sse',
  'json',
  'status',
  'close',
]);

export interface PlacePart {
  readonly source: PlaceSource;
  readonly name: string;
  readonly pointer: Pointer;
  readonly pattern: RegExp | undefined;
}

/** One or several parts; several are joined with the profile's separator. */
export type Place = readonly PlacePart[];

const SOURCES = 'continuity|header|req-header|query|sse|json|sent-json|codec';
const JOIN = new RegExp(`\\+(?=(?:${SOURCES}):)`);
const PART = new RegExp(
  `^(?:(${SOURCES}):((?:[^~]|~[01])*)|(path|status|close))(?:~(?![01])(.+))?$`,
  's',
);

/** @throws SyntaxError naming the place when it is none. */
export function parsePlace(text: string): Place {
  return text.split(JOIN).map((part) => {
    const match = PART.exec(part);
    if (match === null) {
      throw new SyntaxError(`"${part}" is no place: expected one of ${SOURCES} and a name`);
    }
    const source = (match[1] ?? match[3]) as PlaceSource;
    const name = match[2] ?? '';
    return {
      source,
      name: source === 'header' || source === 'req-header' ? name.toLowerCase() : name,
      pointer: source === 'json' || source === 'sent-json' ? parsePointer(name) : [],
      pattern: match[4] === undefined ? undefined : new RegExp(match[4]),
    };
  });
}

function parsePointer(text: string): Pointer {
  if (text === '') return [];
  if (!text.startsWith('/'))
    throw new SyntaxError(`"${text}" is no JSON pointer: it starts with /`);
  return text
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Every value the pointer leads to: one without `*`, none where it leads nowhere. */
export function resolvePointer(value: unknown, pointer: Pointer, from = 0): unknown[] {
  const token = pointer[from];
  if (token === undefined) return value === undefined ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  if (token === '*')
    return Object.values(value).flatMap((v) => resolvePointer(v, pointer, from + 1));
  const member = Array.isArray(value) && token === '-1' ? value.at(-1) : own(value, token);
  return resolvePointer(member, pointer, from + 1);
}

function own(value: object, token: string): unknown {
  return Object.hasOwn(value, token) ? (value as Record<string, unknown>)[token] : undefined;
}

function raw({ source, name, pointer }: PlacePart, subject: Subject): unknown[] {
  const [token] = pointer;
  const isMember = source === 'json' && pointer.length === 1 && token !== '*' && token !== '-1';
  if (source === 'json' && !(isMember && subject.member)) {
    return resolvePointer(subject.json, pointer);
  }
  const value =
    source === 'json' ? subject.member?.(token ?? '') : single(source, name, pointer, subject);
  return value === undefined ? [] : [value];
}

function single(source: PlaceSource, name: string, pointer: Pointer, subject: Subject): unknown {
  switch (source) {
    case 'header':
      return subject.responseHeader?.(name);
    case 'req-header':
      return subject.requestHeader?.(name);
    case 'query':
      return subject.query?.(name);
    case 'sent-json':
      return subject.sentJson?.(pointer);
    case 'continuity':
      return subject.continuity?.get(name);
    case 'sse':
      return subject.sse?.[name as keyof SseFields];
    case 'codec':
      return subject.position?.[name as 'epoch' | 'stream'];
    case 'path':
      return subject.path;
    case 'status':
      return subject.status;
    case 'close':
      return subject.close;
    default:
      return undefined;
  }
}

/** All values of one part, after its pattern took its first group. */
export function valuesOf(part: PlacePart, subject: Subject): unknown[] {
  const found = raw(part, subject);
  if (part.pattern === undefined) return found;
  return found.flatMap((value) => {
    const match = part.pattern?.exec(String(value));
    return match ? [match[1] ?? match[0]] : [];
  });
}

/**
 * @param parts Everything that is read of a connection.
 * @returns The name of the one member of a frame's JSON that is read, when it is the position.
 */
export function loneMember(
  parts: readonly PlacePart[],
  positions: readonly Place[],
): string | undefined {
  const inside = parts.filter(({ source }) => ['json', 'sse', 'codec'].includes(source));
  const [position, other] = positions.flat();
  const isAlone = inside.length === 1 && inside[0] === position && other === undefined;
  if (!isAlone || position?.source !== 'json' || position.pattern !== undefined) return undefined;
  const [token, deeper] = position.pointer;
  return deeper === undefined && token !== '*' && token !== '-1' ? token : undefined;
}

/** Ids and tokens are text; what is no scalar is no id. */
export function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}

/** The text at a place; `undefined` unless every part is there. */
export function readPlace(place: Place, subject: Subject, separator: string): string | undefined {
  let text: string | undefined;
  for (const part of place) {
    const value = asText(valuesOf(part, subject)[0]);
    if (value === undefined) return undefined;
    text = text === undefined ? value : text + separator + value;
  }
  return text;
}

/** Places are tried in order, the first hit wins. */
export function readFirst(
  places: readonly Place[],
  subject: Subject,
  separator: string,
): string | undefined {
  for (const place of places) {
    const text = readPlace(place, subject, separator);
    if (text !== undefined) return text;
  }
  return undefined;
}
