type Field = readonly [name: string, value: unknown];

/** What a response has before its head is written. */
export interface HeadOwner {
  getHeader(name: string): unknown;
}

/** The arguments of `writeHead`, in each form that Node takes, and the headers set before. */
export class Head {
  readonly #owner: HeadOwner;
  readonly #args: readonly unknown[];
  readonly #at: number;

  constructor(owner: HeadOwner, args: readonly unknown[]) {
    this.#owner = owner;
    this.#args = args;
    // writeHead(status, headers), writeHead(status, message, headers); a message may be undefined.
    this.#at = typeof args[1] === 'string' || args[2] != null ? 2 : 1;
  }

  /** @param name In lower case. */
  get(name: string): string | undefined {
    const value = this.#field(name)?.[1] ?? this.#owner.getHeader(name);
    return value === undefined ? undefined : String(value);
  }

  /** @returns The arguments with another value for a header that is among them, else `undefined`. */
  with(name: string, value: string): unknown[] | undefined {
    const field = this.#field(name);
    if (field === undefined) return undefined;
    const replace = (headers: unknown): unknown => {
      if (!Array.isArray(headers)) return { ...(headers as object), [field[0]]: value };
      const isNested = Array.isArray(headers[0]);
      if (isNested) return headers.map((pair) => (pair[0] === field[0] ? [pair[0], value] : pair));
      return headers.map((item, i) => (i % 2 === 1 && headers[i - 1] === field[0] ? value : item));
    };
    return this.#args.map((arg, i) => (i === this.#at ? replace(arg) : arg));
  }

  #field(name: string): Field | undefined {
    return fieldsOf(this.#args[this.#at]).find(([key]) => key.toLowerCase() === name);
  }
}

function fieldsOf(headers: unknown): Field[] {
  if (typeof headers !== 'object' || headers === null) return [];
  if (!Array.isArray(headers)) return Object.entries(headers);
  if (Array.isArray(headers[0])) return headers.map(([name, value]) => [String(name), value]);
  const names = headers.filter((_, i) => i % 2 === 0);
  return names.map((name, i) => [String(name), headers[i * 2 + 1]]);
}
