export type {
  Continuity,
  ContinuityEvidence,
  ContinuityFacts,
  ContinuityOptions,
  FoundCursor,
} from '@sameriver/telemetry/continuity';
export {
  continuity,
  continuityField,
  continuityResponse,
  watchReplayWindow,
} from '@sameriver/telemetry/continuity';
