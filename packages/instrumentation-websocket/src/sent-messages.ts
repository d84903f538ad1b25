import type { FollowedSocket } from './followed-socket.ts';

/** A message that its sender hands over in parts. */
interface Fragments {
  readonly isText: boolean;
  /** `undefined` once they are more than anybody looks into. */
  parts: Buffer[] | undefined;
  size: number;
}

interface SendOptions {
  readonly binary?: boolean;
  readonly fin?: boolean;
}

const MOST_KEPT = 1 << 20;
const FIN = 0x80;
const OPCODE = 0x0f;
const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const WHOLE_TEXT: number = FIN | TEXT;
const WHOLE_BINARY: number = FIN | BINARY;

// Hardly any socket sends fragments: the others need no room for them, and no look-up.
const unfinished = new WeakMap<FollowedSocket, Fragments>();
let anyUnfinished = false;

/** One message, or a part of one, that was taken for sending. */
export function noteSend(socket: FollowedSocket, data: unknown, options: unknown): void {
  const { binary = typeof data !== 'string', fin = true } = (options ?? {}) as SendOptions;
  notePart(socket, data, !binary, fin);
}

/** One frame on its way to the wire, neither masked nor compressed: a header, then the payload. */
export function noteFrame(socket: FollowedSocket, list: unknown): void {
  if (!Array.isArray(list)) return;
  const first: unknown = list[0]?.[0];
  const payload: unknown = list[1] ?? '';
  if (first === WHOLE_TEXT) socket.sent(payload, true);
  else if (first === WHOLE_BINARY) socket.sent(payload, false);
  else if (typeof first === 'number') noteFragment(socket, first, payload);
}

function noteFragment(socket: FollowedSocket, first: number, payload: unknown): void {
  const opcode = first & OPCODE;
  const isLast = (first & FIN) !== 0;
  if (opcode === TEXT || opcode === BINARY) notePart(socket, payload, opcode === TEXT, isLast);
  else if (opcode === CONTINUATION) {
    notePart(socket, payload, unfinished.get(socket)?.isText ?? false, isLast);
  }
}

function notePart(socket: FollowedSocket, data: unknown, isText: boolean, isLast: boolean): void {
  const begun = anyUnfinished ? unfinished.get(socket) : undefined;
  if (begun === undefined && isLast) {
    socket.sent(data, isText);
    return;
  }
  const fragments = begun ?? { isText, parts: [], size: 0 };
  keep(fragments, data);
  if (!isLast) {
    anyUnfinished = true;
    unfinished.set(socket, fragments);
    return;
  }
  unfinished.delete(socket);
  const whole = fragments.parts && Buffer.concat(fragments.parts);
  socket.sent(whole, fragments.isText);
}

function keep(fragments: Fragments, data: unknown): void {
  if (fragments.parts === undefined) return;
  const part = bytesOfPart(data);
  fragments.size += part?.length ?? 0;
  if (part === undefined || fragments.size > MOST_KEPT) fragments.parts = undefined;
  else fragments.parts.push(part);
}

// Copied: whoever sends fragments may fill one buffer again and again.
function bytesOfPart(data: unknown): Buffer | undefined {
  if (typeof data === 'string') return Buffer.from(data);
  if (data instanceof ArrayBuffer) return Buffer.from(data.slice(0));
  if (!ArrayBuffer.isView(data)) return undefined;
  return Buffer.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}
