import type { TranscriptConnection, TranscriptFrame } from '@sameriver/core';
import type { WireHead } from './wire-message.ts';
import { badHeader, wireHead } from './wire-message.ts';

/** One message, and which side sends it. */
type SocketMessage =
  | { readonly by: 'server'; readonly data: string | Uint8Array }
  | { readonly by: 'client'; readonly data: string };

/**
 * `drop`: the TCP connection ends without a close frame, which either side then knows as 1006.
 * `code`: the server closes with it; `undefined` is a close frame without a code (1005).
 */
export type SocketEnd = 'drop' | 'reset' | 'open' | { readonly code: number | undefined };

/** One handshake, and the WebSocket that comes of it when the answer is 101. */
export interface SocketHop extends WireHead {
  readonly transport: 'websocket';
  readonly messages: readonly SocketMessage[];
  readonly ends: SocketEnd;
}

const SWITCHING = 101;
const NO_CODE = 1005;
const NO_CLOSE_FRAME = 1006;

/** Codes of RFC 6455 and its registry that a close frame may hold, and those of applications. */
const isSendable = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004) || (code >= 3000 && code <= 4999);

/** @returns What is sent, or why no WebSocket can carry this connection. */
export function socketHop(
  index: number,
  connection: TranscriptConnection,
): SocketHop | { readonly why: string } {
  const why = unsendable(connection);
  if (why !== undefined) return { why };
  return {
    ...wireHead(index, connection),
    transport: 'websocket',
    messages: connection.frames.flatMap(messageOf),
    ends: endOf(connection),
  };
}

function unsendable({ request, response, frames, ends }: TranscriptConnection): string | undefined {
  if (request.method !== 'GET') {
    return `the handshake of a WebSocket is a GET; no client sends ${request.method}`;
  }
  if (request.body !== undefined) return 'the handshake of a WebSocket has no body';
  const [, code] = ends.split(':');
  if (code !== undefined && !isSendable(Number(code))) {
    return `no close frame holds the code ${code}`;
  }
  if (!frames.flatMap(messageOf).every(({ data }) => isWellFormed(data))) {
    return 'a lone surrogate is no UTF-8, and a message of text is';
  }
  if (response === undefined) return undefined;
  const { status, headers } = response;
  if (status !== SWITCHING && status < 200) return `HTTP has no final answer with status ${status}`;
  if (status !== SWITCHING && frames.length > 0) {
    return `a handshake that is answered ${status} opens no WebSocket that could carry frames`;
  }
  return badHeader(headers) ?? (status === SWITCHING ? notAscii(headers) : undefined);
}

/** `ws` writes the head of a 101 as UTF-8, every client reads it as Latin-1. */
function notAscii(headers: Readonly<Record<string, string>>): string | undefined {
  const found = Object.entries(headers).find(([, value]) => /[^\t\x20-\x7e]/.test(value));
  return found && `the 101 of this server carries ASCII only ["${found[0]}"]`;
}

function isWellFormed(data: string | Uint8Array): boolean {
  return typeof data !== 'string' || data.isWellFormed();
}

function messageOf({ recv, recvBase64, sent }: TranscriptFrame): SocketMessage[] {
  if (sent !== undefined) return [{ by: 'client', data: sent }];
  if (recv !== undefined) return [{ by: 'server', data: recv }];
  if (recvBase64 === undefined) return [];
  return [{ by: 'server', data: Buffer.from(recvBase64, 'base64') }];
}

function endOf({ ends, response }: TranscriptConnection): SocketEnd {
  if (ends === 'reset' || ends === 'open') return ends;
  const [, code] = ends.split(':');
  if (code === undefined || Number(code) === NO_CLOSE_FRAME || response === undefined)
    return 'drop';
  return { code: Number(code) === NO_CODE ? undefined : Number(code) };
}
