/**
 * The answer to one question: did this reconnect continue the stream the consumer believes it is
 * reading? Closed unions; every reason is a metric attribute and an anchor of `docs/spec/verdicts.md`.
 */
export type Classification = 'resumed' | 'reoriginated' | 'unverifiable' | 'refused';

export type RefusedReason =
  | 'stream_gone' // 404, 410
  | 'cursor_conflict' // 409
  | 'nothing_to_resume' // 204
  | 'http_4xx'
  | 'http_5xx'
  | 'http_other' // a login page answered 200, a 3xx that nobody followed
  | 'refusal_frame'; // the refusal stands inside the stream, or in its close code

export type ReoriginatedReason =
  | 'epoch_changed'
  | 'reset_signalled'
  | 'origin_frame'
  | 'echo_mismatch'
  | 'window_exceeded'
  | 'tail_below_cursor'
  | 'cursor_not_advanced' // asked for what follows 4118, answered with 13
  | 'id_reused'
  | 'protocol_never_resumes' // by design; kept out of alerts
  | 'cursor_unknown'; // server side only: its own store never issued the cursor

export type ResumedReason =
  | 'server_declared'
  | 'cursor_echoed'
  | 'epoch_and_window'
  | 'next_in_sequence'
  | 'overlap'
  | 'store_replayed' // server side only
  | 'replay_observed'; // server side only

export type UnverifiableReason =
  | 'no_profile'
  | 'cursor_not_sent'
  | 'no_events'
  | 'no_ids'
  | 'not_comparable'
  | 'no_epoch'
  | 'no_window'
  | 'cursor_unknown_here' // server side only: this instance never wrote that id
  | 'cursor_issued_elsewhere'; // server side only: another instance, maybe of another log, wrote it too

export type Reason = RefusedReason | ReoriginatedReason | ResumedReason | UnverifiableReason;

/** A verdict on one reconnect of one logical stream. The reason always belongs to the classification. */
export type Verdict =
  | { readonly classification: 'resumed'; readonly reason: ResumedReason }
  | { readonly classification: 'reoriginated'; readonly reason: ReoriginatedReason }
  | { readonly classification: 'unverifiable'; readonly reason: UnverifiableReason }
  | { readonly classification: 'refused'; readonly reason: RefusedReason };

/** A number only when the wire proves it (G1); never a guess, and never 0 for unknown. */
export type Count = number | 'unknown';

/** Whether the stream goes on from another log: one that lost events is still the one that it was. */
export function isAnotherLog(verdict: Verdict | undefined): boolean {
  return verdict?.classification === 'reoriginated' && verdict.reason !== 'window_exceeded';
}
