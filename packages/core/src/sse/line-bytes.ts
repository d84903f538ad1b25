// What the bytes of a line say. Each module has constants of its own: one that is exported is read
// from memory at every use, which made the whole scan a third slower.

const LF = 10;
const CR = 13;
const SPACE = 32;
const ZERO = 48;
const COLON = 58;

export function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR;
}

export function startsData(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === 0x64 &&
    bytes[at + 1] === 0x61 &&
    bytes[at + 2] === 0x74 &&
    bytes[at + 3] === 0x61 &&
    bytes[at + 4] === COLON
  );
}

export function startsId(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x69 && bytes[at + 1] === 0x64 && bytes[at + 2] === COLON;
}

/** Where the value begins of a field whose colon is at `colon`: one space does not belong to it (S6). */
export function valueAfter(bytes: Uint8Array, colon: number): number {
  return bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
}

/**
 * The first control byte up to CR, line end or not, in bytes[from..to); `to` if there is none.
 * Eight bytes in a row, because V8 runs a loop of single bytes at half the speed wherever its code
 * happens to lie badly.
 */
export function firstControl(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  for (const last = to - 8; at <= last; at += 8) {
    if ((bytes[at] as number) <= CR) return at;
    if ((bytes[at + 1] as number) <= CR) return at + 1;
    if ((bytes[at + 2] as number) <= CR) return at + 2;
    if ((bytes[at + 3] as number) <= CR) return at + 3;
    if ((bytes[at + 4] as number) <= CR) return at + 4;
    if ((bytes[at + 5] as number) <= CR) return at + 5;
    if ((bytes[at + 6] as number) <= CR) return at + 6;
    if ((bytes[at + 7] as number) <= CR) return at + 7;
  }
  while (at < to && (bytes[at] as number) > CR) at += 1;
  return at;
}

/** The value of decimal digits in bytes[from..to); -1 when there are none or other bytes too. */
export function digitsValue(bytes: Uint8Array, from: number, to: number): number {
  let value = from === to ? -1 : 0;
  for (let at = from; at < to; at += 1) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
