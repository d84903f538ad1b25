import type { HeaderLookup } from '@sameriver/core';

/**
 * Headers come as a flat list of names and values (text or bytes), or as an object.
 *
 * @returns Takes lower-case names.
 */
export function headerLookup(headers: unknown): HeaderLookup {
  if (Array.isArray(headers)) return (name) => inList(headers, name);
  if (typeof headers !== 'object' || headers === null) return () => undefined;
  const byName = headers as Readonly<Record<string, unknown>>;
  return (name) => {
    for (const key of Object.keys(byName)) {
      if (key.length === name.length && key.toLowerCase() === name) return textOf(byName[key]);
    }
    return undefined;
  };
}

function inList(headers: readonly unknown[], name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (textOf(headers[i])?.toLowerCase() !== name) continue;
    const value = textOf(headers[i + 1]);
    found = found === undefined ? value : `${found}, ${value}`;
  }
  return found;
}

/** Latin-1, as HTTP/1.1 carries header bytes. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return value === undefined || value === null ? undefined : String(value);
}

/** A request to change an HTTP connection into a WebSocket. */
export function isHandshake(upgrade: unknown): boolean {
  return typeof upgrade === 'string' && upgrade.toLowerCase() === 'websocket';
}
