export type {
  Continuity,
  ContinuityEvidence,
  ContinuityOptions,
  FoundCursor,
  StampOptions,
} from '@sameriver/telemetry/continuity';
export {
  continuity,
  continuityField,
  continuityResponse,
  stampAnswers,
} from '@sameriver/telemetry/continuity';
export type { EventStore, ReplayOptions } from './event-store.ts';
export type { ContinuityEventStore, ContinuityLogOptions } from './with-continuity.ts';
export { withContinuity } from './with-continuity.ts';
