/**
 * How two ids of one stream stand to each other. `incomparable` is an answer, not a failure: most
 * ids in the wild are random or time-based and prove nothing by their order (R17).
 */
export type Order = 'before' | 'same' | 'after' | 'incomparable';

/** An id as a codec reads it. Positions compare as BigInt, tuples or bytes, never as doubles (S7). */
export interface Position {
  readonly text: string;
  /** Generation named inside the id. */
  readonly epoch?: string;
  /** Stream named inside the id. */
  readonly stream?: string;
  /** Present where a successor exists: the only positions in which a hole can be counted (G1). */
  readonly value?: bigint;
  /** Sort keys of positions that are ordered but have no successor. */
  readonly keys?: readonly bigint[];
  /** A first key without a second one. */
  readonly isWhole?: boolean;
  /** Partial order: one value for each topic and partition. */
  readonly vector?: ReadonlyMap<string, bigint>;
}

export interface Codec {
  readonly name: string;
  /** `undefined` when the text is not of this grammar. */
  parse(text: string): Position | undefined;
  /** Both positions come from this codec's `parse`. */
  order(left: Position, right: Position): Order;
}

export function orderOf(left: bigint, right: bigint): Order {
  if (left === right) return 'same';
  return left < right ? 'before' : 'after';
}

/** Ids are comparable only inside one epoch and one stream part. */
export function sameScope(left: Position, right: Position): boolean {
  return left.epoch === right.epoch && left.stream === right.stream;
}

export function orderByText(left: Position, right: Position): Order {
  return left.text === right.text ? 'same' : 'incomparable';
}

export function orderByValue(left: Position, right: Position): Order {
  if (!sameScope(left, right) || left.value === undefined || right.value === undefined) {
    return orderByText(left, right);
  }
  return orderOf(left.value, right.value);
}

export function orderByKeys(left: Position, right: Position): Order {
  if (left.keys === undefined || right.keys === undefined) return orderByText(left, right);
  for (const [index, key] of left.keys.entries()) {
    const order = orderOf(key, right.keys[index] ?? 0n);
    if (order !== 'same') return order;
  }
  return 'same';
}

/** Time-based ids of one instant are ordered by chance, so only equal text is `same`. */
export function orderByTime(left: Position, right: Position): Order {
  const order = orderByKeys(left, right);
  return order === 'same' ? orderByText(left, right) : order;
}
