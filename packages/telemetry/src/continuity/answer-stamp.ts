import type { Continuity } from '@sameriver/core';
import { writeContinuity } from '@sameriver/core';
import type { ContinuityEvidence } from './evidence.ts';
import { readerOf } from './evidence.ts';
import { CONTINUITY_HEADER, exposedHeaders, isEventStream, takesFrame } from './expose.ts';
import type { FrameOptions } from './frame.ts';
import { frameOf } from './frame.ts';

/** Of streams that say nothing of themselves but `Stream-Continuity`: the profile of that name. */
const PLAIN_PROTOCOL = 'stream-continuity';

/** An answer whose head is not written yet. */
export interface Answer {
  readonly status: unknown;
  /** Takes lower-case names. */
  readonly header: (name: string) => string | undefined;
  readonly hasBody: boolean;
}

/** What an answer is to be given. */
export interface AnswerStamp {
  /** Value of `Stream-Continuity`. */
  readonly field: string;
  /** Value of `Access-Control-Expose-Headers`, where it must change. */
  readonly exposed: string | undefined;
  /** What comes before the body; empty for nothing. */
  readonly frame: string;
}

/** Takes the evidence for an answer that is stamped, and with it the gauges of the replay window. */
export function readerForAnswer(
  evidence: ContinuityEvidence,
  cursor: string | null | undefined,
  protocol: string = PLAIN_PROTOCOL,
): () => Continuity {
  return readerOf(evidence, cursor || undefined, protocol);
}

/**
 * @param read What `readerForAnswer` returned; called for an answer that may be stamped alone.
 * @returns `undefined` for an answer that stays as it is: no event stream with status 200, one with
 *   the header already, or nothing to say.
 */
export function stampFor(
  { status, header, hasBody }: Answer,
  read: () => Continuity,
  options: FrameOptions,
): AnswerStamp | undefined {
  if (status !== 200 || !isEventStream(header('content-type'))) return undefined;
  if (header(CONTINUITY_HEADER.toLowerCase()) !== undefined) return undefined;
  const said = read();
  const field = writeContinuity(said);
  if (field === undefined) return undefined;
  const frame = hasBody && takesFrame(header) ? frameOf(said, field, options) : '';
  return { field, exposed: exposedHeaders(header), frame };
}
