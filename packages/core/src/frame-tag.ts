import { PayloadHash } from './sse/payload-hash.ts';
import { encodeUtf8, giveBack } from './sse/utf8.ts';

const hash = new PayloadHash();

/**
 * Fingerprint of a whole WebSocket message. Text and the bytes it travels as have the same one,
 * because libraries hand over either. Never 0.
 */
export function frameTagOf(data: string | Uint8Array): number {
  hash.begin();
  if (typeof data === 'string') {
    for (let from = 0; from < data.length; ) {
      const piece = encodeUtf8(data, from);
      hash.part(piece.bytes, 0, piece.length);
      from = piece.next;
      giveBack(piece);
    }
  } else hash.part(data, 0, data.length);
  hash.endLine();
  return hash.tag();
}
