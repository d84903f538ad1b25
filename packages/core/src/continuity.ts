import type { ContinuityMembers } from './profile/place.ts';

const MAX_LENGTH = 1024;
const TEXT: ReadonlySet<string> = new Set(['gen', 'from', 'received', 'next', 'oldest', 'newest']);
const TOKENS: ReadonlySet<string> = new Set(['status', 'reason']);
const TOKEN = /^[A-Za-z*][\w!#$%&'*+\-.^`|~:/]*$/;

/** A bare item of an RFC 9651 structured field; tokens keep their kind, they are no strings. */
type Item =
  | { readonly kind: 'string' | 'token'; readonly value: string }
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'other' };

/**
 * Reads a `Stream-Continuity` field (an RFC 9651 dictionary). A field over 1,024 characters, one
 * that cannot be read, or one with a known key of the wrong type is ignored whole: half a proof
 * from a broken peer is none. Unknown keys are skipped; of equal keys the last counts.
 *
 * @param sentCursor the cursor of this very request; a field that names another one was written
 * for somebody else (a cache, a collapsed response) and is ignored whole.
 */
export function readContinuity(
  field: string | undefined,
  sentCursor: string | undefined,
): ContinuityMembers | undefined {
  const members = field === undefined ? undefined : parseContinuity(field);
  return members !== undefined && isForCursor(members, sentCursor) ? members : undefined;
}

/** Whether what it names is the cursor of the request at hand. */
export function isForCursor(members: ContinuityMembers, sentCursor: string | undefined): boolean {
  const named = members.get('received') ?? members.get('from');
  return named === undefined || named === (sentCursor ?? '');
}

/** The members that somebody wrote as JSON; `undefined` where a known key is of the wrong type. */
export function typedContinuity(
  entries: readonly (readonly [key: string, value: unknown])[],
): ContinuityMembers | undefined {
  const members = new Map<string, string | number | boolean>();
  for (const [key, value] of entries) {
    const item = itemOf(key, value);
    if (!accepts(key, item)) return undefined;
    if (item.kind !== 'other') members.set(key, item.value);
  }
  return members;
}

/** JSON knows no tokens: a word is one where the field has one. */
function itemOf(key: string, value: unknown): Item {
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (typeof value === 'number' && Number.isInteger(value)) return { kind: 'integer', value };
  if (typeof value !== 'string') return { kind: 'other' };
  return { kind: TOKENS.has(key) && TOKEN.test(value) ? 'token' : 'string', value };
}

/** A field without the question whom it was written for. */
export function parseContinuity(field: string): ContinuityMembers | undefined {
  if (field.length > MAX_LENGTH) return undefined;
  const reader = new Reader(field);
  const members = new Map<string, string | number | boolean>();
  reader.spaces();
  while (!reader.done) {
    const key = reader.match(/[a-z*][a-z0-9_\-.*]*/y);
    if (key === undefined) return undefined;
    const item = reader.match(/=/y) === undefined ? BARE : reader.item();
    if (item === undefined || !reader.parameters()) return undefined;
    if (!accepts(key, item)) return undefined;
    members.delete(key);
    if (item.kind !== 'other') members.set(key, item.value);
    if (!reader.separator()) return undefined;
  }
  return members;
}

const BARE: Item = { kind: 'boolean', value: true };

function accepts(key: string, item: Item): boolean {
  if (TEXT.has(key)) return item.kind === 'string';
  if (key === 'window') return item.kind === 'integer' && item.value >= 0;
  if (TOKENS.has(key)) return item.kind === 'token';
  if (key === 'dense') return item.kind === 'boolean';
  return true;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get done(): boolean {
    return this.#at >= this.#text.length;
  }

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  spaces(): void {
    this.match(/[ \t]*/y);
  }

  /** Between members: a comma and another member, or the end. A trailing comma is an error. */
  separator(): boolean {
    this.spaces();
    if (this.done) return true;
    if (this.match(/,/y) === undefined) return false;
    this.spaces();
    return !this.done;
  }

  /** Parameters carry nothing for us but must be well-formed. */
  parameters(): boolean {
    while (this.match(/; */y) !== undefined) {
      if (this.match(/[a-z*][a-z0-9_\-.*]*/y) === undefined) return false;
      if (this.match(/=/y) !== undefined && this.item() === undefined) return false;
    }
    return true;
  }

  item(): Item | undefined {
    const quoted = this.match(/"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y);
    if (quoted !== undefined) {
      return { kind: 'string', value: quoted.slice(1, -1).replace(/\\(.)/g, '$1') };
    }
    const display = this.match(/%"(?:[\x20\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*"/y);
    if (display !== undefined) return displayString(display);
    if (this.match(/-?\d{1,12}\.\d{1,3}/y) !== undefined) return { kind: 'other' };
    const integer = this.match(/-?\d{1,15}(?![\d.])/y);
    if (integer !== undefined) return { kind: 'integer', value: Number(integer) };
    const boolean = this.match(/\?[01]/y);
    if (boolean !== undefined) return { kind: 'boolean', value: boolean === '?1' };
    const token = this.match(/[A-Za-z*][\w!#$%&'*+\-.^`|~:/]*/y);
    if (token !== undefined) return { kind: 'token', value: token };
    if (this.match(/:[A-Za-z0-9+/=]*:/y) !== undefined) return { kind: 'other' };
    if (this.match(/@-?\d{1,15}/y) !== undefined) return { kind: 'other' };
    return this.innerList();
  }

  innerList(): Item | undefined {
    if (this.match(/\( */y) === undefined) return undefined;
    while (this.match(/\)/y) === undefined) {
      if (this.done || this.item() === undefined || !this.parameters()) return undefined;
      if (this.match(/ +/y) === undefined && this.#text[this.#at] !== ')') return undefined;
    }
    return { kind: 'other' };
  }
}

/** Non-ASCII ids travel as Display Strings: percent-encoded UTF-8. */
function displayString(text: string): Item | undefined {
  try {
    return { kind: 'string', value: decodeURIComponent(text.slice(2, -1)) };
  } catch {
    return undefined;
  }
}
