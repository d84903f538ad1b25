import type { InStreamFinding } from '../connection.ts';
import { relate } from '../cursor/relate.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { anyHolds } from '../profile/condition.ts';
import type { Subject } from '../profile/place.ts';
import { readFirst } from '../profile/place.ts';
import type { RefusedReason } from '../verdict.ts';
import type { Engine } from './engine.ts';
import type { FrameFacts } from './frame.ts';
import { sizeOf } from './frame.ts';
import type { Lane } from './lane.ts';

const EVENT_STREAM = /^\s*text\/event-stream\s*(;|$)/i;

/** Whether the answer opens a stream at all. */
export function opensStream(
  transport: 'sse' | 'websocket',
  status: number,
  contentType: string | undefined,
): boolean {
  if (transport === 'websocket') return status === 101;
  return status === 200 && EVENT_STREAM.test(contentType ?? '');
}

/** R1: how an answer that opens no stream declines. */
export function refusalOf(status: number): RefusedReason {
  if (status === 404 || status === 410) return 'stream_gone';
  if (status === 409) return 'cursor_conflict';
  if (status === 204) return 'nothing_to_resume';
  if (status >= 500) return 'http_5xx';
  return status >= 400 ? 'http_4xx' : 'http_other';
}

/** What the headers of an answer say; our own header speaks on any built-in protocol. */
export function applyAnswer(
  { continuity }: Engine,
  lane: Lane,
  profile: CompiledProfile,
  subject: Subject,
): void {
  if (profile.builtIn && subject.continuity !== undefined) {
    lane.gen ??= epochIn(continuity, subject);
    if (lane.evidence) lane.evidence.gen ??= lane.gen;
    applyPlaces(lane, continuity, subject);
  }
  if (profile === continuity) return;
  const epoch = epochIn(profile, subject);
  lane.epoch ??= epoch;
  if (lane.evidence) lane.evidence.receivedEpoch ??= epoch;
  applyPlaces(lane, profile, subject);
}

function epochIn({ epochReceived, separator }: CompiledProfile, subject: Subject) {
  return readFirst(epochReceived, subject, separator) || undefined;
}

/** A place read before is not overwritten. */
function applyPlaces(lane: Lane, profile: CompiledProfile, subject: Subject): void {
  const { evidence } = lane;
  const { separator } = profile;
  if (evidence === undefined) return;
  evidence.echo ??= readFirst(profile.echo, subject, separator) || undefined;
  evidence.tailText ??= readFirst(profile.tail, subject, separator) || undefined;
  evidence.oldestText ??= readFirst(profile.oldest, subject, separator) || undefined;
  evidence.windowSize ??= sizeOf(readFirst(profile.windowSize, subject, separator));
  evidence.declaredDense ||= subject.continuity?.get('dense') === true;
  const { resumed, reset, origin } = profile.inHeaders;
  evidence.declaredResumed ||= anyHolds(resumed, subject);
  evidence.reset ||= anyHolds(reset, subject);
  evidence.origin ||= anyHolds(origin, subject);
}

/**
 * Evidence that one frame brings to one stream. A position told by a frame that is no event says
 * where the log ends; it proves nothing else (R6, R18a).
 */
export function applyFrame(lane: Lane, facts: FrameFacts, isEvent: boolean): void {
  const { evidence } = lane;
  if (facts.position !== undefined) lane.lastId = facts.position;
  if (evidence === undefined) return;
  if (facts.reset) evidence.reset = true;
  if (facts.resumed) evidence.declaredResumed = true;
  if (facts.origin) evidence.origin = true;
  evidence.receivedEpoch ??= facts.epoch;
  evidence.echo ??= facts.echo;
  evidence.oldestText ??= facts.oldest;
  evidence.windowSize ??= facts.windowSize;
  const tail = facts.tail ?? (isEvent ? undefined : facts.position);
  if (tail !== undefined) evidence.tailText = tail;
}

/** R20: an epoch that changes, or a counted position that falls back, inside the connection. */
export function inStreamFinding(
  lane: Lane,
  profile: CompiledProfile,
  facts: FrameFacts,
): InStreamFinding | undefined {
  if (facts.epoch !== undefined && lane.epoch !== undefined && facts.epoch !== lane.epoch) {
    return { kind: 'epoch_changed', missed: 'unknown' };
  }
  if (facts.position === undefined || lane.lastId === undefined) return undefined;
  const { order, cursor, other } = relate(profile.choices, lane.lastId, facts.position);
  const counted = cursor.value !== undefined && other.value !== undefined;
  return counted && order === 'before'
    ? { kind: 'cursor_not_advanced', missed: 'unknown' }
    : undefined;
}
