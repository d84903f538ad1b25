export type {
  Continuity,
  ContinuityEvidence,
  ContinuityFacts,
  ContinuityOptions,
  FoundCursor,
  StampOptions,
} from '@sameriver/telemetry/continuity';
export {
  continuity,
  continuityField,
  continuityResponse,
  stampAnswers,
  watchReplayWindow,
} from '@sameriver/telemetry/continuity';
