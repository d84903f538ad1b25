import { finishHash, mixWord, NO_LINES } from './sse/hash32.ts';
import { hashLine, LineHash } from './sse/line-hash.ts';
import { encodeUtf8, giveBack } from './sse/utf8.ts';

const cut = new LineHash();

/**
 * Fingerprint of a whole WebSocket message, equal to that of an event whose data is one such line.
 * Text and the bytes it travels as have the same one, because libraries hand over either. Never 0.
 */
export function frameTagOf(data: string | Uint8Array): number {
  const hash = typeof data === 'string' ? hashText(data) : hashLine(data, 0, data.length);
  return finishHash(mixWord(NO_LINES, hash));
}

function hashText(text: string): number {
  const first = encodeUtf8(text, 0);
  let from = first.next;
  if (from === text.length) {
    const hash = hashLine(first.bytes, 0, first.length);
    giveBack(first);
    return hash;
  }
  cut.part(first.bytes, 0, first.length);
  giveBack(first);
  while (from < text.length) {
    const piece = encodeUtf8(text, from);
    cut.part(piece.bytes, 0, piece.length);
    from = piece.next;
    giveBack(piece);
  }
  return cut.end();
}
