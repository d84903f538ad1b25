import type { MessageData } from '../connection.ts';
import type { PayloadUnderId } from '../evidence.ts';
import { frameTagOf } from '../frame-tag.ts';
import type { Engine } from './engine.ts';
import type { Lane } from './lane.ts';

/**
 * Hot path: one message of a WebSocket whose frames nobody reads. It is counted and told from the
 * others by its bytes, and no object is made of it.
 */
export function passBy(
  engine: Engine,
  lane: Lane,
  data: MessageData,
  mark: number,
): PayloadUnderId {
  const isCompared = data !== undefined && engine.identity !== 'id';
  // What cannot be compared may repeat at any time (G2).
  if (data === undefined) lane.state.repeatsPayload = true;
  return lane.deliver(0, isCompared ? frameTagOf(data) : 0, 0, mark);
}
