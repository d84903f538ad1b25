import type { Continuity } from '@sameriver/core';

export interface FrameOptions {
  /** The field again as the first frame of the body, a comment. Default true. */
  readonly comment?: boolean;
  /**
   * The same as an event named `stream-continuity`, its data a JSON object, without an id: the one
   * form that a native `EventSource` can hear. Default false.
   */
  readonly event?: boolean;
}

/** What comes before the first event of the application; empty for nothing. */
export function frameOf(
  said: Continuity,
  field: string,
  { comment = true, event = false }: FrameOptions,
): string {
  const asComment = comment ? `: stream-continuity ${field}\n\n` : '';
  const { epoch: gen, ...rest } = said;
  const asEvent = event
    ? `event: stream-continuity\ndata: ${JSON.stringify({ ...rest, gen })}\n\n`
    : '';
  return asComment + asEvent;
}

/** Nothing may come before a byte order mark, which is one only at the very beginning (S2). */
export function beginsWithMark(chunk: unknown): boolean {
  if (typeof chunk === 'string') return chunk.startsWith('\ufeff');
  return chunk instanceof Uint8Array && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
}
