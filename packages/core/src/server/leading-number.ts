const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const ZERO = 0x30;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Digits that a double holds. */
const MOST_DIGITS = 15;

/**
 * The number at the very beginning of a JSON object, as `{"seq":4118,` has it: where applications
 * number their messages it mostly stands there, and is had without decoding or searching.
 *
 * @returns −1 where the object begins otherwise.
 */
export function leadingNumber(data: string | Uint8Array, member: string): number {
  return typeof data === 'string' ? inText(data, member) : inBytes(data, member);
}

function inText(text: string, member: string): number {
  const colon = member.length + 3;
  if (text.charCodeAt(colon) !== COLON || !text.startsWith(member, 2)) return -1;
  if (text.charCodeAt(0) !== OPEN_BRACE || text.charCodeAt(1) !== QUOTE) return -1;
  if (text.charCodeAt(colon - 1) !== QUOTE) return -1;
  let value = 0;
  let at = colon + 1;
  for (; at <= colon + MOST_DIGITS; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  return isNumber(at - colon - 1, value, text.charCodeAt(at)) ? value : -1;
}

function inBytes(bytes: Uint8Array, member: string): number {
  const colon = member.length + 3;
  if (bytes[colon] !== COLON || bytes[0] !== OPEN_BRACE || bytes[1] !== QUOTE) return -1;
  if (bytes[colon - 1] !== QUOTE) return -1;
  // A name beyond ASCII has more bytes than characters, and does not fit between the quotes.
  for (let i = 0; i < member.length; i++) if (bytes[i + 2] !== member.charCodeAt(i)) return -1;
  let value = 0;
  let at = colon + 1;
  for (; at <= colon + MOST_DIGITS; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return isNumber(at - colon - 1, value, bytes[at] ?? 0) ? value : -1;
}

/** JSON has no leading zeros; what ends a number of an object is a comma or the brace. */
function isNumber(digits: number, value: number, next: number): boolean {
  const isWhole = next === COMMA || next === CLOSE_BRACE;
  return isWhole && digits > 0 && (digits === 1 || value >= 10 ** (digits - 1));
}
