export type { Course, Standing } from './course.ts';
export { courseFor } from './course.ts';
export type { EventSourceLike, Listening, ListenOptions } from './forms/event-source.ts';
export type { EventsOptions, GuardedEvent } from './forms/events.ts';
export type { GuardedFetchOptions } from './forms/fetch.ts';
export type { Effect, Guard } from './guard.ts';
export { createGuard } from './guard.ts';
export type { KeyOf } from './keys.ts';
export { jsonKey } from './keys.ts';
export type { IdempotencyLedger, Position, Reservation } from './ledger/ledger.ts';
export { LedgerUnavailable } from './ledger/ledger.ts';
export type { MemoryLedgerOptions } from './ledger/memory.ts';
export { LedgerFull, memoryLedger } from './ledger/memory.ts';
export type { SseEvent } from './sse-event.ts';
export type {
  Bill,
  ConfirmedStanding,
  DoubtfulEvent,
  GuardOptions,
  InDoubtAnswer,
  UnverifiableReconnect,
} from './types.ts';
export type { ViolationDetails, ViolationReason } from './violation.ts';
export { EffectNotApplied, StreamRefused, StreamResumptionViolation } from './violation.ts';
