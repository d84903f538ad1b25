/** Says where in a document something is wrong, and what was expected there. */
export class ShapeError extends Error {
  override readonly name: string = 'ShapeError';
  /** JSON pointer to the value at fault; empty for the whole document. */
  readonly pointer: string;

  constructor(pointer: string, problem: string) {
    super(`${pointer === '' ? '(document)' : pointer}: ${problem}`);
    this.pointer = pointer;
  }
}

export type Json = Readonly<Record<string, unknown>>;

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `${typeof value} ${JSON.stringify(value)}`;
}

function refuse(pointer: string, expected: string, value: unknown): never {
  const found = value === undefined ? 'nothing' : describe(value);
  throw new ShapeError(pointer, `expected ${expected}, found ${found}`);
}

export function object(value: unknown, pointer: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(pointer, 'an object', value);
  }
  return value as Json;
}

export function array(value: unknown, pointer: string): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : refuse(pointer, 'an array', value);
}

export function text(value: unknown, pointer: string): string {
  return typeof value === 'string' ? value : refuse(pointer, 'a string', value);
}

export function optionalText(value: unknown, pointer: string): string | undefined {
  return value === undefined ? undefined : text(value, pointer);
}

export function integer(value: unknown, pointer: string, low: number, high: number): number {
  if (Number.isInteger(value) && (value as number) >= low && (value as number) <= high) {
    return value as number;
  }
  return refuse(pointer, `an integer from ${low} to ${high}`, value);
}

export function oneOf<T extends string>(value: unknown, pointer: string, all: readonly T[]): T {
  return (all as readonly unknown[]).includes(value)
    ? (value as T)
    : refuse(pointer, `one of ${all.join(', ')}`, value);
}

export function texts(value: unknown, pointer: string): readonly string[] {
  return array(value, pointer).map((item, index) => text(item, `${pointer}/${index}`));
}
