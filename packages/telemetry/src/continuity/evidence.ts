import type { Continuity, ContinuityFacts } from '@sameriver/core';
import { describeContinuity, writeContinuity } from '@sameriver/core';

/** A log that says for itself, once the head of an answer is written, how it continues. */
export interface ContinuitySource {
  /**
   * A request begins to be answered. Called where the application handles it, so that what the log
   * hears in the same asynchronous context belongs to this answer.
   *
   * @param cursor The cursor of the request; `undefined` for none.
   * @returns Asked when the head is written.
   */
  answering(cursor: string | undefined): () => Continuity;
}

/**
 * What a server can say, from least to most: facts of the log without `found` (L0: an epoch), with
 * what a look into the log found (L1), or a statement of the application's own (L2, with `status`).
 */
export type ContinuityEvidence = ContinuityFacts | Continuity | ContinuitySource;

/** Takes the evidence for one answer. */
export function readerOf(
  evidence: ContinuityEvidence,
  cursor: string | undefined,
): () => Continuity {
  if ('answering' in evidence) return evidence.answering(cursor);
  const said = 'status' in evidence ? completed(evidence, cursor) : undefined;
  return () => said ?? describeContinuity(cursor, evidence);
}

/** A statement names the cursor that it is about; without a cursor there is nothing to continue. */
function completed(said: Continuity, cursor: string | undefined): Continuity {
  if (cursor === undefined) return { ...said, status: 'initialized', from: undefined };
  if (said.status === 'resumed') return { ...said, from: said.from ?? cursor };
  return { ...said, received: said.received ?? cursor };
}

/**
 * The field for an answer that the application writes by itself, such as the 101 of a WebSocket:
 *
 * ```js
 * sockets.on('headers', (lines, request) => {
 *   lines.push(`Stream-Continuity: ${continuityField(cursorOf(request), { epoch })}`);
 * });
 * ```
 *
 * @param cursor The cursor of the request; `undefined` or empty for none.
 * @returns `undefined` where there is nothing that a reader would take.
 */
export function continuityField(
  cursor: string | undefined,
  evidence: ContinuityEvidence,
): string | undefined {
  return writeContinuity(readerOf(evidence, cursor || undefined)());
}
