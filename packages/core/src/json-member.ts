/** What is asked for cannot be told without parsing the text. */
export const UNKNOWN: unique symbol = Symbol('unknown');

/** Characters of nested values that are walked through before parsing is the better way. */
const PATIENCE = 512;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/** Numbers that a double holds digit by digit. */
const SHORT_NUMBER = /^-?(?:0|[1-9]\d{0,14})$/;

/**
 * One member of a JSON object, found without parsing the rest: a position in front of a large
 * payload costs what its place costs, strings are leapt over. The first of equal names counts, and
 * what stands behind the member is not looked at.
 *
 * @param text A JSON object, or as much of its beginning as is at hand.
 * @returns its value where that is a string without escapes, a short integer, true, false or null;
 *   `undefined` when there is no such member; else `UNKNOWN`.
 */
export function peekMember(text: string, name: string): unknown {
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return UNKNOWN;
  at = skipSpace(text, at + 1);
  if (text.charCodeAt(at) === CLOSE_BRACE) return undefined;
  while (at < text.length) {
    const end = stringEnd(text, at);
    if (end < 0 || text.charCodeAt(end - 1) === BACKSLASH) return UNKNOWN;
    const isIt = end - at - 1 === name.length && text.startsWith(name, at + 1);
    // A name with escapes in it may be any name.
    if (!isIt && hasEscape(text, at, end)) return UNKNOWN;
    at = skipSpace(text, end + 1);
    if (text.charCodeAt(at) !== COLON) return UNKNOWN;
    at = skipSpace(text, at + 1);
    if (isIt) return scalarAt(text, at);
    at = skipSpace(text, valueEnd(text, at));
    const next = text.charCodeAt(at);
    if (next === CLOSE_BRACE) return undefined;
    if (next !== COMMA) return UNKNOWN;
    at = skipSpace(text, at + 1);
  }
  return UNKNOWN;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= SPACE) at++;
  return at;
}

/** Index of the quote that ends the string which begins at `at`; −1 when none begins there. */
function stringEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) return -1;
  let end = text.indexOf('"', at + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

function hasEscape(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === BACKSLASH) return true;
  return false;
}

function scalarAt(text: string, at: number): unknown {
  if (text.charCodeAt(at) === QUOTE) {
    const end = stringEnd(text, at);
    if (end < 0) return UNKNOWN;
    const content = text.slice(at + 1, end);
    return content.includes('\\') ? UNKNOWN : content;
  }
  const end = plainEnd(text, at);
  // Nothing of an object ends with the text; this is a part of one, and the number may go on.
  if (end === text.length) return UNKNOWN;
  const token = text.slice(at, end);
  if (SHORT_NUMBER.test(token)) return Number(token);
  if (token === 'true') return true;
  if (token === 'false') return false;
  return token === 'null' ? null : UNKNOWN;
}

/** Index behind the value that begins at `at`; the end of the text when that cannot be told. */
function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) {
    const end = stringEnd(text, at);
    return end < 0 ? text.length : end + 1;
  }
  return first === OPEN_BRACE || first === OPEN_BRACKET ? nestedEnd(text, at) : plainEnd(text, at);
}

function plainEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= SPACE || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET)
      return at;
  }
  return text.length;
}

function nestedEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from, steps = 0; at < text.length && steps < PATIENCE; at++, steps++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return at + 1;
    } else if (code === QUOTE) {
      at = stringEnd(text, at);
      if (at < 0) return text.length;
    }
  }
  return text.length;
}
