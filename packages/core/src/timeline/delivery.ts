import type { PayloadUnderId } from '../evidence.ts';
import { idTagOf } from '../id-tag.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { anyHolds, holds } from '../profile/condition.ts';
import { readPlace } from '../profile/place.ts';
import type { Engine } from './engine.ts';
import type { Frame } from './frame.ts';
import { keyTagOf, payloadTagOf } from './frame.ts';
import type { Lane } from './lane.ts';

/**
 * The first id of a stream decides; later ones change nothing (R18a). Where events without an id
 * came before it, their verdict stands and it can only refute (R16).
 */
export function noteFirst(lane: Lane, id: string | undefined, payload: PayloadUnderId): void {
  const { evidence } = lane;
  if (evidence === undefined) return;
  if (evidence.reset) evidence.deliveredSinceReset = true;
  if (evidence.delivered && (evidence.firstId !== undefined || id === undefined)) return;
  evidence.firstIsLate = evidence.delivered;
  evidence.delivered = true;
  evidence.firstId = id;
  evidence.firstPayload = payload;
  lane.firstId = id;
}

/** What tells one application event from another, and the connection it came on. */
export interface Delivery {
  readonly frame: Frame;
  readonly position: string | undefined;
  /** Tag of the data bytes, where a scanner made one. */
  readonly scanned: number | undefined;
  readonly mark: number;
}

export function deliver(
  engine: Engine,
  profile: CompiledProfile,
  lane: Lane,
  { frame, position, scanned, mark }: Delivery,
): void {
  const payloadTag = payloadTagOf(engine, profile, frame, scanned);
  const isOwnId = position !== undefined && position === frame.sse?.id && frame.idTag !== 0;
  const idTag = isOwnId ? frame.idTag : position === undefined ? 0 : idTagOf(position);
  const payload = lane.deliver(idTag, payloadTag, keyTagOf(engine, profile, frame), mark);
  noteFirst(lane, position, payload);
}

/** SignalR's Sequence: the number that the next message will have, and the oldest that still comes. */
export function setCounter(lane: Lane, { count, separator }: CompiledProfile, frame: Frame): void {
  if (count === undefined || !holds(count.when, frame)) return;
  const next = readPlace(count.set, frame, separator);
  if (next === undefined || !/^\d{1,30}$/.test(next)) return;
  lane.state.counter = BigInt(next);
  if (lane.evidence !== undefined) lane.evidence.oldestText ??= next;
}

/** The position an event carries, or the one its protocol counts without writing it. */
export function positionOf(
  lane: Lane,
  { count }: CompiledProfile,
  frame: Frame,
  written: string | undefined,
): string | undefined {
  if (count === undefined || !anyHolds(count.of, frame)) return written;
  const position = lane.state.counter ?? 1n;
  lane.state.counter = position + 1n;
  lane.lastId = String(position);
  return lane.lastId;
}
