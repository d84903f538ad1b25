import { parseJson } from '../json.ts';
import type { Codec, Order, Position } from './position.ts';
import {
  orderByKeys,
  orderByText,
  orderByTime,
  orderByValue,
  orderOf,
  sameScope,
} from './position.ts';

const ABOVE_ALL: bigint = 1n << 256n;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const EPOCH_SEPARATORS = '.~\\-_:/';
const PAIR_SEPARATORS = '\\-_';
/** Positions longer than any counter are compared as text: BigInt parsing is quadratic. */
const MAX_DIGITS = 256;

export type CodecName =
  | 'opaque'
  | 'int'
  | 'padded-int'
  | 'pair'
  | 'epoch-seq'
  | 'stream-ts-rand'
  | 'stream-seq'
  | 'ulid'
  | 'uuid'
  | 'ksuid'
  | 'vector-json'
  | 'bytes';

type Grammar = (separator: string | undefined) => Codec;

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
const separators = (given: string | undefined, standard: string): string =>
  given === undefined ? `[${standard}]` : literal(given);

function matching(
  name: CodecName,
  pattern: RegExp,
  order: Codec['order'],
  read: (match: RegExpExecArray) => Omit<Position, 'text'> | undefined,
): Codec {
  return {
    name,
    order,
    parse(text: string): Position | undefined {
      const match = pattern.exec(text);
      const position = match === null ? undefined : read(match);
      return position === undefined ? undefined : { text, ...position };
    },
  };
}

const digits = (text: string | undefined): bigint | undefined =>
  text === undefined || text.length > MAX_DIGITS ? undefined : BigInt(text);

function valued(match: RegExpExecArray, group: number): { value: bigint } | undefined {
  const value = digits(match[group]);
  return value === undefined ? undefined : { value };
}

function decode(text: string, alphabet: string): bigint {
  const base = BigInt(alphabet.length);
  let value = 0n;
  for (const character of text) value = value * base + BigInt(alphabet.indexOf(character));
  return value;
}

/** UTF-8 byte order is code point order; comparing UTF-16 units would misplace astral characters. */
function orderByBytes(left: Position, right: Position): Order {
  if (left.text === right.text) return 'same';
  const a = [...left.text];
  const b = [...right.text];
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = (a[i]?.codePointAt(0) ?? 0) - (b[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference < 0 ? 'before' : 'after';
  }
  return a.length < b.length ? 'before' : 'after';
}

function parseVector(text: string): Position | undefined {
  const list = parseJson(text);
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const vector = new Map<string, bigint>();
  for (const entry of list as Record<string, unknown>[]) {
    if (typeof entry !== 'object' || entry === null) return undefined;
    const unit = entry['offset'] === undefined ? 'timestamp' : 'offset';
    const at = entry[unit];
    if (!/^-?\d{1,30}$/.test(String(at))) return undefined;
    vector.set(
      `${String(entry['topic'])}/${String(entry['partition'])}/${unit}`,
      BigInt(at as number | string),
    );
  }
  return { text, vector };
}

/**
 * A position that fell back in one partition is behind, whatever the others did: a log that honours
 * the cursor never hands out a smaller one. −1 says "nothing read yet" and is not a position.
 */
function orderByVector(left: Position, right: Position): Order {
  let ahead = false;
  let equal = false;
  for (const [key, value] of left.vector ?? []) {
    const other = right.vector?.get(key);
    if (other === undefined || other < 0n || value < 0n) continue;
    const order = orderOf(value, other);
    if (order === 'before') return 'before';
    if (order === 'after') ahead = true;
    else equal = true;
  }
  if (ahead) return 'after';
  return equal || left.text === right.text ? 'same' : 'incomparable';
}

const GRAMMARS: Readonly<Record<CodecName, Grammar>> = {
  opaque: () => ({ name: 'opaque', parse: (text) => ({ text }), order: orderByText }),
  int: () => matching('int', /^(0|[1-9]\d*)$/, orderByValue, (m) => valued(m, 1)),
  'padded-int': () => matching('padded-int', /^(\d+)$/, orderByValue, (m) => valued(m, 1)),
  pair: (separator) =>
    matching(
      'pair',
      new RegExp(`^(\\d+)(?:${separators(separator, PAIR_SEPARATORS)}(\\d+|inf))?$`),
      orderByKeys,
      (m) => {
        const major = digits(m[1]);
        const minor = m[2] === 'inf' ? ABOVE_ALL : digits(m[2] ?? '0');
        if (major === undefined || minor === undefined) return undefined;
        return { keys: [major, minor], ...(m[2] === undefined && { isWhole: true }) };
      },
    ),
  'epoch-seq': (separator) =>
    matching(
      'epoch-seq',
      new RegExp(`^(.+)${separators(separator, EPOCH_SEPARATORS)}(\\d+)$`, 's'),
      orderByValue,
      (m) => {
        const position = valued(m, 2);
        return position && { ...position, epoch: m[1] ?? '' };
      },
    ),
  'stream-ts-rand': () =>
    matching('stream-ts-rand', /^(.*)_(\d{13})_([a-z0-9]{1,16})$/s, orderByTime, (m) => ({
      stream: m[1] ?? '',
      keys: [BigInt(m[2] ?? '0')],
    })),
  'stream-seq': (separator) =>
    matching(
      'stream-seq',
      new RegExp(`^(.*)${separators(separator, '_')}(\\d+)$`, 's'),
      orderByValue,
      (m) => {
        const position = valued(m, 2);
        return position && { ...position, stream: m[1] ?? '' };
      },
    ),
  ulid: () =>
    matching('ulid', /^([0-7][0-9A-HJKMNP-TV-Z]{9})[0-9A-HJKMNP-TV-Z]{16}$/i, orderByTime, (m) => ({
      keys: [decode((m[1] ?? '').toUpperCase(), CROCKFORD)],
    })),
  uuid: () =>
    matching(
      'uuid',
      /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
      orderByTime,
      (m) => (m[3] === '7' ? { keys: [BigInt(`0x${m[1]}${m[2]}`)] } : {}),
    ),
  ksuid: () =>
    matching('ksuid', /^[0-9A-Za-z]{27}$/, orderByTime, (m) => ({
      keys: [decode(m[0], BASE62) >> 128n],
    })),
  'vector-json': () => ({ name: 'vector-json', parse: parseVector, order: orderByVector }),
  bytes: () => ({ name: 'bytes', parse: (text) => ({ text }), order: orderByBytes }),
};

export const CODEC_NAMES: readonly CodecName[] = Object.keys(GRAMMARS) as CodecName[];

/** @param separator for the codecs that split an id; they split at its last occurrence. */
export function codecNamed(name: CodecName, separator?: string): Codec {
  return GRAMMARS[name](separator);
}

/**
 * A grammar of the user's own: named groups `pos`, `stream` and `epoch`; `pos` is read by the codec
 * named in `order`.
 * @throws SyntaxError when the pattern is no regular expression.
 */
export function codecFromPattern(pattern: string, order: CodecName): Codec {
  const expression = new RegExp(pattern);
  const inner = codecNamed(order);
  const posOf = (position: Position): string =>
    expression.exec(position.text)?.groups?.['pos'] ?? position.text;
  return {
    name: 'pattern',
    parse(text: string): Position | undefined {
      const groups = expression.exec(text)?.groups;
      const position = groups?.['pos'] === undefined ? undefined : inner.parse(groups['pos']);
      if (groups === undefined || position === undefined) return undefined;
      return {
        ...position,
        text,
        ...(groups['epoch'] !== undefined && { epoch: groups['epoch'] }),
        ...(groups['stream'] !== undefined && { stream: groups['stream'] }),
      };
    },
    order(left, right): Order {
      if (!sameScope(left, right)) return 'incomparable';
      return inner.order({ ...left, text: posOf(left) }, { ...right, text: posOf(right) });
    },
  };
}
