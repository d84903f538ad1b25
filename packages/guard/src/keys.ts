import type { SseEvent } from './sse-event.ts';

/** The application's idempotency key of an event; `undefined` when it has none. */
export type KeyOf = (event: SseEvent) => string | undefined;

/**
 * Reads the key out of the event's data.
 *
 * @param pointer JSON pointer (RFC 6901), as `/key` or `/params/_meta/idempotencyKey`.
 * @throws SyntaxError when it does not start with a slash.
 */
export function jsonKey(pointer: string): KeyOf {
  if (!pointer.startsWith('/')) {
    throw new SyntaxError(`"${pointer}" is no JSON pointer: it starts with /`);
  }
  const tokens = pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return ({ data }) => {
    const found = tokens.reduce<unknown>(memberOf, parsed(data));
    return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
  };
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Names events that have no key of their own, so that one whose effect was cut short by a crash is
 * known when it comes again: by stream, run, id and data. Where a stream gives several events one
 * id, equal ones are told apart by their number.
 */
export class PlaceKeys {
  readonly #stream: string;
  #last = '';
  #repeated = 0;

  constructor(stream: string) {
    this.#stream = stream;
  }

  /** @returns `undefined` for an event without an id: nobody can ask for it again. */
  async of({ id, data }: SseEvent, run: string): Promise<string | undefined> {
    if (id === undefined || id === '') return undefined;
    const key = JSON.stringify([this.#stream, run, id, await digestOf(data)]);
    this.#repeated = key === this.#last ? this.#repeated + 1 : 0;
    this.#last = key;
    return this.#repeated === 0 ? key : `${key} ${this.#repeated}`;
  }
}

async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes, 0, 8), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
