/** What follows a first byte: bytes of a length or of a number, and what the length counts. */
type Head = readonly [lengthBytes: number, content: 'bytes' | 'values' | 'pairs', more: number];

const LENGTHS: Readonly<Record<number, Head>> = {
  196: [1, 'bytes', 0], // bin
  197: [2, 'bytes', 0],
  198: [4, 'bytes', 0],
  199: [1, 'bytes', 1], // ext, a byte of type before its content
  200: [2, 'bytes', 1],
  201: [4, 'bytes', 1],
  217: [1, 'bytes', 0], // str
  218: [2, 'bytes', 0],
  219: [4, 'bytes', 0],
  220: [2, 'values', 0], // array
  221: [4, 'values', 0],
  222: [2, 'pairs', 0], // map
  223: [4, 'pairs', 0],
};

/** Floats, integers and extensions of a fixed size, by their first byte. */
const FIXED: Readonly<Record<number, number>> = {
  ...{ 202: 4, 203: 8, 204: 1, 205: 2, 206: 4, 207: 8, 208: 1, 209: 2, 210: 4, 211: 8 },
  ...{ 212: 2, 213: 3, 214: 5, 215: 9, 216: 17 },
};

/**
 * Whether one MessagePack value fills the bytes exactly and nests no deeper than `deepest`. A
 * decoder makes an array as long as its head claims before it has seen an item, level by level, so
 * a few bytes could cost gigabytes; here what is owed never exceeds the bytes that are left.
 */
export function isSound(bytes: Uint8Array, deepest: number): boolean {
  const owed = [1];
  let total = 1;
  let at = 0;
  while (total > 0) {
    const level = owed.length - 1;
    if (owed[level] === 0) {
      owed.pop();
      continue;
    }
    owed[level] = (owed[level] ?? 0) - 1;
    total -= 1;
    const { size, values } = tokenAt(bytes, at);
    at += size;
    total += values;
    if (total > bytes.length - at) return false;
    if (values > 0 && owed.push(values) > deepest) return false;
  }
  return at === bytes.length;
}

/** Bytes of the token, and how many values follow it that belong to it. */
function tokenAt(bytes: Uint8Array, at: number): { size: number; values: number } {
  const first = bytes[at] ?? 0;
  if (first >= 0x80 && first <= 0x8f) return { size: 1, values: (first & 0x0f) * 2 };
  if (first >= 0x90 && first <= 0x9f) return { size: 1, values: first & 0x0f };
  if (first >= 0xa0 && first <= 0xbf) return { size: 1 + (first & 0x1f), values: 0 };
  const head = LENGTHS[first];
  if (head === undefined) return { size: 1 + (FIXED[first] ?? 0), values: 0 };
  const [lengthBytes, content, more] = head;
  let length = 0;
  for (let byte = 1; byte <= lengthBytes; byte++) length = length * 256 + (bytes[at + byte] ?? 0);
  if (content === 'bytes') return { size: 1 + lengthBytes + more + length, values: 0 };
  return { size: 1 + lengthBytes, values: content === 'pairs' ? length * 2 : length };
}
