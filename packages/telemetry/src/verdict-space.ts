import type { Classification, Reason, Role, Verdict } from '@sameriver/core';

type ReasonOf<C extends Classification> = Extract<Verdict, { classification: C }>['reason'];
type Space = { readonly [C in Classification]: readonly ReasonOf<C>[] };

const REFUSED: Space['refused'] = [
  'stream_gone',
  'cursor_conflict',
  'nothing_to_resume',
  'http_4xx',
  'http_5xx',
  'http_other',
  'refusal_frame',
];

/** Which verdicts each end can reach (R1 to R15, V1 to V9, X1 to X4): the series that exist from the start. */
const SPACES: Readonly<Record<Role, Space>> = {
  client: {
    refused: REFUSED,
    reoriginated: [
      'epoch_changed',
      'reset_signalled',
      'origin_frame',
      'echo_mismatch',
      'window_exceeded',
      'tail_below_cursor',
      'cursor_not_advanced',
      'id_reused',
      'protocol_never_resumes',
    ],
    resumed: [
      'server_declared',
      'cursor_echoed',
      'epoch_and_window',
      'next_in_sequence',
      'overlap',
    ],
    unverifiable: [
      'no_profile',
      'cursor_not_sent',
      'no_events',
      'no_ids',
      'not_comparable',
      'no_epoch',
      'no_window',
    ],
  },
  server: {
    refused: REFUSED,
    reoriginated: [
      'window_exceeded',
      'cursor_unknown',
      'cursor_not_advanced',
      'id_reused',
      'epoch_changed',
    ],
    resumed: ['store_replayed', 'replay_observed'],
    unverifiable: [
      'no_events',
      'no_ids',
      'cursor_unknown_here',
      'no_window',
      'cursor_issued_elsewhere',
    ],
  },
};

/** @returns Every verdict that `role` can reach on `protocol`. */
export function possibleVerdicts(
  role: Role,
  protocol: string,
): { readonly classification: Classification; readonly reason: Reason }[] {
  const space = SPACES[role];
  return (Object.keys(space) as Classification[]).flatMap((classification) =>
    space[classification]
      // R15: `no_profile` is said of a WebSocket that only the generic profile describes.
      .filter((reason) => reason !== 'no_profile' || protocol === 'websocket')
      .map((reason) => ({ classification, reason })),
  );
}

/** A re-origination that nobody should be woken for: the protocol never resumes (R9). */
export function isByDesign({ reason }: Verdict): boolean {
  return reason === 'protocol_never_resumes';
}
