export type {
  Continuity,
  ContinuityEvidence,
  ContinuityOptions,
  FoundCursor,
} from '@sameriver/telemetry/continuity';
export { continuity, continuityField, continuityResponse } from '@sameriver/telemetry/continuity';
export type { EventStore, ReplayOptions } from './event-store.ts';
export type { ContinuityEventStore, ContinuityLogOptions } from './with-continuity.ts';
export { withContinuity } from './with-continuity.ts';
