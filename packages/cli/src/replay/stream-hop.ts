import type { TranscriptConnection } from '@sameriver/core';
import { encodeSseFrame } from '@sameriver/core';
import type { WireHead } from './wire-message.ts';
import { badHeader, wireHead } from './wire-message.ts';

/** `reset`: RST. `open`: until everything else is over. */
type StreamEnd = 'eof' | 'reset' | 'open';

/** One request over HTTP. */
export interface StreamHop extends WireHead {
  readonly transport: 'sse';
  /** Sent one by one, each as a chunk of its own. */
  readonly frames: readonly Uint8Array[];
  readonly ends: StreamEnd;
}

const ENDS: readonly StreamEnd[] = ['eof', 'reset', 'open'];

const BODILESS = new Set([204, 205, 304]);

/** @returns What is sent, or why HTTP cannot carry this connection. */
export function streamHop(
  index: number,
  connection: TranscriptConnection,
): StreamHop | { readonly why: string } {
  const why = unsendable(connection);
  if (why !== undefined) return { why };
  const frames = connection.frames.map(encodeSseFrame).filter((text) => text !== '');
  return {
    ...wireHead(index, connection),
    transport: 'sse',
    frames: frames.map((text) => Buffer.from(text, 'utf8')),
    // Without a body the client is done with the headers, and may use the socket again at once.
    ends: isBodiless(connection) ? 'eof' : (endOf(connection) ?? 'reset'),
  };
}

function unsendable(connection: TranscriptConnection): string | undefined {
  const { request, response, frames, ends } = connection;
  if (endOf(connection) === undefined) return `no HTTP response ends with ${ends}`;
  if (response === undefined) return undefined;
  const { status } = response;
  if (status < 200) return `HTTP has no final answer with status ${status}`;
  if (isBodiless(connection) && frames.length > 0) {
    return `the answer ${status} to ${request.method} has no body that could carry frames`;
  }
  return badHeader(response.headers);
}

function isBodiless({ request, response }: TranscriptConnection): boolean {
  return response !== undefined && (BODILESS.has(response.status) || request.method === 'HEAD');
}

function endOf({ ends }: TranscriptConnection): StreamEnd | undefined {
  return ENDS.find((known) => known === ends);
}
