export { claim } from './claim.ts';
export type {
  ConnectionEnd,
  HeaderLookup,
  InStreamFinding,
  Role,
  StreamConnection,
  StreamObserver,
  StreamReport,
  StreamRequest,
  StreamTimeline,
  Transport,
} from './connection.ts';
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
