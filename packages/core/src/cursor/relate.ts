import { codecNamed } from './codecs.ts';
import type { Codec, Order, Position } from './position.ts';

/** What the server does with a cursor: replays what follows it, from it on, or it once more. */
export type CursorMeaning = 'last' | 'next' | 'inclusive';

/** One way to read ids, with what the profile declares for ids of that grammar (R18). */
export interface CodecChoice {
  readonly codec: Codec;
  readonly dense: boolean;
  readonly means: CursorMeaning;
}

/** A delivered or declared id as it stands to a cursor. */
export interface Relation {
  readonly order: Order;
  readonly dense: boolean;
  readonly means: CursorMeaning;
  readonly cursor: Position;
  readonly other: Position;
}

const OPAQUE: Codec = codecNamed('opaque');

/** The first choice whose grammar fits both ids; otherwise they can only be told apart. */
export function relate(choices: readonly CodecChoice[], cursor: string, other: string): Relation {
  for (const { codec, dense, means } of choices) {
    const left = codec.parse(other);
    const right = left && codec.parse(cursor);
    if (left && right) {
      return { order: codec.order(left, right), dense, means, cursor: right, other: left };
    }
  }
  const means = choices[0]?.means ?? 'last';
  return {
    order: cursor === other ? 'same' : 'incomparable',
    dense: false,
    means,
    cursor: OPAQUE.parse(cursor) ?? { text: cursor },
    other: OPAQUE.parse(other) ?? { text: other },
  };
}

export function parseWith(choices: readonly CodecChoice[], id: string): Position {
  for (const { codec } of choices) {
    const position = codec.parse(id);
    if (position) return position;
  }
  return { text: id };
}

/** Below what a perfect resume delivers first. */
export function belowFirstWanted({ order, means }: Relation): boolean {
  return order === 'before' || (order === 'same' && means === 'last');
}

/**
 * How many positions lie between what was wanted and what came; `undefined` where the grammar has
 * no successor or another scope answered. For `inclusive` a hole starts only above cursor + 1.
 */
export function distanceFromWanted({ cursor, other, means, order }: Relation): bigint | undefined {
  if (order === 'incomparable' || cursor.value === undefined || other.value === undefined) {
    return undefined;
  }
  return other.value - (means === 'next' ? cursor.value : cursor.value + 1n);
}
