import { finishHash, ID_SEED, mixBytes, mixWord } from './sse/hash32.ts';

/** Fingerprint of an id as text; equal to the scanner's for the same id as bytes. Never 0. */
export function idTagOf(id: string): number {
  if (/^(0|[1-9]\d{0,14})$/.test(id)) return numberTagOf(Number(id));
  const bytes = Uint8Array.from(utf8(id));
  return finishHash(mixBytes(ID_SEED, bytes, 0, bytes.length));
}

/** The same for an id of at most 15 digits. */
export function numberTagOf(value: number): number {
  return finishHash(mixWord(value | 0, (value / 2 ** 32) | 0));
}

/** Fingerprint of any text: a frame, a key, a payload of JSON. Never 0. */
export function textTagOf(text: string): number {
  let hash = ~text.length;
  for (let i = 0; i < text.length; i++) hash = mixWord(hash, text.charCodeAt(i));
  return finishHash(hash);
}

function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), tail(point));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), tail(point >> 6), tail(point));
    else bytes.push(0xf0 | (point >> 18), tail(point >> 12), tail(point >> 6), tail(point));
  }
  return bytes;
}

const tail = (point: number): number => 0x80 | (point & 0x3f);
