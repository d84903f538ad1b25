import type { HeaderLookup } from '@sameriver/core';

// Also set in every digit and in the hyphen.
const LOWER_CASE = 0x20;

/**
 * Headers come as a flat list of names and values (strings or buffers; a value may be a list), as
 * an object from HTTP/2, and as one block of text from undici 5.
 */
export function headerLookup(headers: unknown): HeaderLookup {
  if (Array.isArray(headers)) return (name) => inList(headers, name);
  if (typeof headers === 'string') return (name) => inText(headers, name);
  if (typeof headers !== 'object' || headers === null) return () => undefined;
  const byName = headers as Readonly<Record<string, unknown>>;
  return (name) => {
    for (const key of Object.keys(byName)) {
      if (key.length !== name.length || key.toLowerCase() !== name) continue;
      const value = byName[key];
      return value === undefined || value === null ? undefined : textIn(value);
    }
    return undefined;
  };
}

function inList(headers: readonly unknown[], name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (!isNamed(headers[i], name)) continue;
    const value = textIn(headers[i + 1]);
    found = found === undefined ? value : `${found}, ${value}`;
  }
  return found;
}

function inText(headers: string, name: string): string | undefined {
  const values = headers
    .split('\r\n')
    .filter((line) => line.slice(0, name.length + 1).toLowerCase() === `${name}:`)
    .map((line) => line.slice(name.length + 1).trim());
  return values.length === 0 ? undefined : values.join(', ');
}

/** Called for every header of every request of the process, so it makes no string. */
export function isNamed(key: unknown, name: string): boolean {
  if (typeof key === 'string') return key.length === name.length && key.toLowerCase() === name;
  return key instanceof Uint8Array && key.length === name.length && spells(key, name);
}

function spells(bytes: Uint8Array, name: string): boolean {
  for (let i = 0; i < name.length; i += 1) {
    if (((bytes[i] ?? 0) | LOWER_CASE) !== (name.charCodeAt(i) | LOWER_CASE)) return false;
  }
  return true;
}

export function textIn(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value);
}

/** Latin-1, as HTTP/1.1 carries header bytes and as fetch hands them out. */
function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
}
