/** What a value must be, and how it is written in an environment variable. */
export interface Check {
  /** Half a sentence for "expected …". */
  readonly expected: string;
  accepts(value: unknown): boolean;
  parse(text: string): unknown;
}

const ON = ['on', 'true', '1'];
const OFF = ['off', 'false', '0'];

/** A timer takes no more; it would fire at once. */
export const LONGEST_DELAY: number = 2 ** 31 - 1;

export const flag: Check = {
  expected: 'on or off (in a file true or false)',
  accepts: (value) => typeof value === 'boolean',
  parse: (text) => {
    if (ON.includes(text)) return true;
    return OFF.includes(text) ? false : text;
  },
};

export function choice(...values: readonly string[]): Check {
  return {
    expected: `one of ${values.join(', ')}`,
    accepts: (value) => values.includes(value as string),
    parse: (text) => text,
  };
}

export function integer(low: number, high: number, unit = ''): Check {
  return {
    expected: `an integer from ${low} to ${high}${unit && ` ${unit}`}`,
    accepts: (value) => Number.isSafeInteger(value) && within(value as number, low, high),
    parse: numberOf,
  };
}

export const ratio: Check = {
  expected: 'a number from 0 to 1',
  accepts: (value) => typeof value === 'number' && within(value, 0, 1),
  parse: numberOf,
};

const IDENTITIES = ['payload', 'id', 'canonical-json'];

export const identity: Check = {
  expected: `one of ${IDENTITIES.join(', ')}, or places of a key such as json:/key`,
  accepts: (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.every((place) => typeof place === 'string' && place.includes(':'))
      : IDENTITIES.includes(value as string),
  parse: (text) => (text.includes(':') ? text.split(',').map((place) => place.trim()) : text),
};

export const list: Check = {
  expected: 'a list',
  accepts: (value) => Array.isArray(value),
  parse: (text) => text,
};

function within(value: number, low: number, high: number): boolean {
  return value >= low && value <= high;
}

// `Number` would read an empty text as 0.
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
