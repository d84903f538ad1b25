import type { MessageData } from '../connection.ts';
import { frameTagOf } from '../frame-tag.ts';
import { noteFirst } from './delivery.ts';
import type { Engine } from './engine.ts';
import type { Lanes } from './lanes.ts';

/**
 * Hot path: one message of a WebSocket whose frames nobody reads. It is counted and told from the
 * others by its bytes, and no object is made of it.
 */
export function passBy(engine: Engine, lanes: Lanes, data: MessageData): void {
  const { main, mark } = lanes;
  const isCompared = data !== undefined && engine.identity !== 'id';
  // What cannot be compared may repeat at any time (G2).
  if (data === undefined) main.state.repeatsPayload = true;
  const payload = main.deliver(0, isCompared ? frameTagOf(data) : 0, 0, mark);
  if (main.evidence === undefined) return;
  noteFirst(main, undefined, payload);
  lanes.evaluate(false);
}
