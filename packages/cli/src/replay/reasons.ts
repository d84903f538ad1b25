import type { Reason, Role } from '@sameriver/core';

/**
 * What a verdict's reason means, in one sentence.
 *
 * @param side Whose verdict it is: a server gives some reasons on other grounds.
 */
export function meaningOf(reason: Reason, side: Role): string {
  const meaning = REASONS[reason];
  return side === 'client' ? meaning : (ON_THE_SERVER[reason] ?? meaning);
}

const REASONS: Readonly<Record<Reason, string>> = {
  stream_gone: 'The server says that the stream or the position is gone (404, 410).',
  cursor_conflict: 'The server rejects the cursor (409).',
  nothing_to_resume: 'The server says that there is nothing to come back to (204).',
  http_4xx: 'The server refuses the request.',
  http_5xx: 'The server or a gateway fails before any stream is opened.',
  http_other: 'The answer is no event stream, whatever its status says.',
  refusal_frame:
    'The server refuses inside the stream, or by its close code, and delivers nothing.',
  epoch_changed: 'The log has another generation token than the one that was read before.',
  reset_signalled: 'The server signals that it does not continue the stream, and goes on.',
  origin_frame: 'The server answers with a frame that only a fresh stream sends.',
  echo_mismatch: 'The server names another resume point than the one that was asked for.',
  window_exceeded: 'The cursor lies before what the server still has: events are missing.',
  tail_below_cursor: 'The log of the server ends before the cursor: it is another log.',
  cursor_not_advanced: 'The first event does not lie after the cursor: it is another log.',
  id_reused: 'An id comes again with another payload: it is another log.',
  protocol_never_resumes: 'This protocol starts afresh at every reconnect, by design.',
  cursor_unknown: 'The store of this server has never issued the cursor.',
  server_declared: 'The server says itself that it has resumed.',
  cursor_echoed: 'The server names the cursor as its resume point.',
  epoch_and_window: 'The same log, and its replay window covers the cursor.',
  next_in_sequence: 'The same log, numbered without holes, goes on with the next number.',
  overlap: 'The acknowledged event comes again, byte for byte, as this protocol replays.',
  store_replayed: 'The store knows the cursor and the replay starts right after it.',
  replay_observed: 'The replay starts with the event that was written right after the cursor.',
  no_profile: 'Nothing says where this application keeps a position.',
  cursor_not_sent: 'The client held a position and did not send it.',
  no_events: 'No event came, so there is no evidence either way.',
  no_ids: 'There are no positions to compare.',
  not_comparable: 'The positions have no order, and nothing else is stated.',
  no_epoch: 'Nothing names the generation of the log; a higher id alone proves nothing.',
  no_window: 'Nothing states how far back the server can replay.',
  cursor_unknown_here: 'This instance has never written the cursor.',
  cursor_issued_elsewhere:
    'Another instance has written the cursor as well, and nothing says that they share a log.',
};

const ON_THE_SERVER: Readonly<Partial<Record<Reason, string>>> = {
  window_exceeded: 'Events after the cursor that this server has had are skipped.',
  cursor_not_advanced: 'The first event written does not lie after the cursor.',
  no_events: 'Nothing was written, so there is no evidence either way.',
  no_window:
    'This instance wrote the cursor and nothing since; what others wrote is not seen here.',
};
