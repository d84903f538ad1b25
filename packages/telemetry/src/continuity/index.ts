export type {
  Continuity,
  ContinuityFacts,
  ContinuityStatus,
  FoundCursor,
  ResetReason,
} from '@sameriver/core';
export { watchReplayWindow } from '../process-windows.ts';
export type { ReplayWindow } from '../types.ts';
export type { ContinuityEvidence, ContinuitySource } from './evidence.ts';
export { continuityField } from './evidence.ts';
export type { FrameOptions } from './frame.ts';
export type { StampOptions } from './stamp-answers.ts';
export { stampAnswers } from './stamp-answers.ts';
export { continuityResponse } from './stamp-fetch.ts';
export type { ContinuityOptions } from './stamp-response.ts';
export { continuity } from './stamp-response.ts';
