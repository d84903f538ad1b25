export { claim, newOwner } from './claim.ts';
export { classify } from './classify.ts';
export { classifyReconnect } from './classify-reconnect.ts';
export type {
  ConnectionEnd,
  HeaderLookup,
  HeldPosition,
  InStreamFinding,
  MessageCounter,
  MessageData,
  MessageUse,
  Role,
  StreamConnection,
  StreamObserver,
  StreamReport,
  StreamRequest,
  StreamTimeline,
  Transport,
} from './connection.ts';
export { readContinuity } from './continuity.ts';
export type {
  Continuity,
  ContinuityFacts,
  ContinuityStatus,
  FoundCursor,
  ResetReason,
} from './continuity-field.ts';
export { describeContinuity, writeContinuity } from './continuity-field.ts';
export type { Evidence, FirstEvent, PayloadUnderId } from './evidence.ts';
export type { BinaryDecoder } from './messages.ts';
export { MAX_TEXT } from './messages.ts';
export type {
  Migration,
  MigrationOutcome,
  MigrationPlan,
  MigrationPositions,
} from './migration.ts';
export {
  migrationLoss,
  migrationOutcome,
  planMigration,
  SessionMigrationGapError,
} from './migration.ts';
export type { IssuedIds, WrittenStream } from './origins/issued-ids.ts';
export { hasIssued, speaksForAll } from './origins/issued-ids.ts';
export type {
  DeclaredEpoch,
  JudgedOrigin,
  Origin,
  OtherIssuer,
  OwnFinding,
} from './origins/judge-origin.ts';
export { asksForOrigin, judgeOrigin } from './origins/judge-origin.ts';
export type { PrivateSlot } from './private-slot.ts';
export { privateSlot } from './private-slot.ts';
export { processWide } from './process-wide.ts';
export { BUILT_IN_PROFILES } from './profile/built-in.ts';
export type { Condition, Profile } from './profile/profile.ts';
export { validateProfile } from './profile/validate.ts';
export type { ServerEvidence } from './server/classify-server.ts';
export { classifyServer } from './server/classify-server.ts';
export { createServerTimeline } from './server/server-timeline.ts';
export { ShapeError } from './shape.ts';
export type { JoinedTimeline, TimelineMember } from './shared-timeline.ts';
export { joinTimeline } from './shared-timeline.ts';
export { SseScanner } from './sse/scanner.ts';
export type { SseScannerOptions, SseSink } from './sse/sink.ts';
export type { TimelineOptions } from './timeline/client-timeline.ts';
export { createClientTimeline } from './timeline/client-timeline.ts';
export type { Identity } from './timeline/engine.ts';
export type { JudgedReconnect } from './transcript/judge.ts';
export { isFollowed, judgeTranscript } from './transcript/judge.ts';
export { parseTranscript } from './transcript/parse.ts';
export type {
  ExpectedReconnect,
  Transcript,
  TranscriptConnection,
  TranscriptFrame,
} from './transcript/transcript.ts';
export { encodeSseFrame } from './transcript/transcript.ts';
export type {
  Classification,
  Count,
  Reason,
  RefusedReason,
  ReoriginatedReason,
  ResumedReason,
  UnverifiableReason,
  Verdict,
} from './verdict.ts';
