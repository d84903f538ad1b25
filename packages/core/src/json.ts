type SourceContext = { readonly source?: string } | undefined;
type Reviver = (key: string, value: unknown, context?: SourceContext) => unknown;
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown;

/** Only such texts can hold an integer that a double would round. */
const LONG_NUMBER = /\d{16}/;

/**
 * JSON whose integers keep every digit: an integer beyond 2^53 becomes its source text, because
 * positions never compare as doubles (S7). `undefined` when the text is no JSON.
 */
export function parseJson(text: string): unknown {
  if (!mayBeJson(text)) return undefined;
  try {
    return LONG_NUMBER.test(text) ? parse(text, keepDigits) : parse(text);
  } catch {
    return undefined;
  }
}

/** To throw costs fifty times what a short text does; most that are no JSON show it at an end. */
function mayBeJson(text: string): boolean {
  const first = text[0];
  const last = text.at(-1);
  if (first === undefined || last === undefined) return false;
  if (first <= ' ' || last <= ' ') return true;
  if (first === '{') return last === '}';
  if (first === '[') return last === ']';
  if (first === '"') return last === '"';
  if (first === '-' || isDigit(first)) return isDigit(last);
  return text === 'true' || text === 'false' || text === 'null';
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

function keepDigits(_key: string, value: unknown, context?: SourceContext): unknown {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value);
  const source = context?.source;
  return isRounded && source !== undefined && /^-?\d+$/.test(source) ? source : value;
}

/**
 * JSON with sorted keys: two spellings of one value become one text. `undefined` when it nests
 * deeper than the stack is.
 */
export function canonicalJson(value: unknown): string | undefined {
  try {
    return canonical(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The value as JSON; empty for what JSON has no text for, and what nests deeper than the stack is. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
