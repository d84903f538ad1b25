import type { Continuity, ContinuityFacts } from '@sameriver/core';
import { describeContinuity, writeContinuity } from '@sameriver/core';
import { tellReplayWindow } from '../process-windows.ts';

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

/**
 * Takes the evidence for one answer.
 *
 * @param protocol Label of the gauges of the replay window, which what is read fills as well; absent:
 *   it fills none. A source knows its window by itself.
 */
export function readerOf(
  evidence: ContinuityEvidence,
  cursor: string | undefined,
  protocol?: string,
): () => Continuity {
  if ('answering' in evidence) return evidence.answering(cursor);
  const said =
    'status' in evidence ? completed(evidence, cursor) : describeContinuity(cursor, evidence);
  return () => {
    if (protocol !== undefined) tellWindow(said, protocol);
    return said;
  };
}

/** Only positions without holes say how many events lie between the oldest and the newest. */
function tellWindow({ dense, oldest, newest, window: limit }: Continuity, protocol: string): void {
  if (dense !== true || limit === undefined || oldest === undefined) return;
  const usage = Number(newest) - Number(oldest) + 1;
  if (Number.isSafeInteger(usage) && usage >= 0) tellReplayWindow(protocol, { usage, limit });
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
