import type { MessageData } from '../connection.ts';
import { frameTagOf } from '../frame-tag.ts';
import { peekMember, UNKNOWN } from '../json-member.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { asText } from '../profile/place.ts';
import { decodeUtf8 } from '../sse/utf8.ts';
import { leadingNumber } from './leading-number.ts';
import type { PlacedEvent } from './placed-event.ts';
import { placed, placedAt } from './placed-event.ts';

export interface LonePosition {
  readonly event: PlacedEvent;
  /** Of the whole frame; 0 where payloads are not compared. */
  readonly tag: number;
}

/** Above this a frame is forgotten, so that a single large one is not kept. */
const MOST_KEPT = 65_536;
/** Bytes of a frame that are decoded in the hope of finding the member there. */
const HEAD = 256;

let lastText = '';
let lastMember = '';
let last: LonePosition | undefined;

/** The name of the member, where frames are looked into for nothing else. */
export function loneMemberOf({ loneMember, messages }: CompiledProfile): string | undefined {
  return messages === 'json' ? loneMember : undefined;
}

/**
 * What a frame says under a profile that reads the position from it and nothing else. A frame that
 * goes to many as one string is looked at once.
 *
 * @param data Text, or the bytes of one.
 * @returns `undefined` where it has to be read as any other.
 */
export function lonePosition(
  data: MessageData,
  member: string,
  isCompared: boolean,
): LonePosition | undefined {
  if (data === undefined) return undefined;
  if (typeof data !== 'string') return look(data, member, isCompared);
  const isKnown = last !== undefined && data === lastText && member === lastMember;
  if (isKnown && (last?.tag !== 0) === isCompared) return last;
  const found = data.endsWith('}') ? look(data, member, isCompared) : undefined;
  if (found === undefined || data.length > MOST_KEPT) return found;
  lastText = data;
  lastMember = member;
  last = found;
  return found;
}

function look(
  data: string | Uint8Array,
  member: string,
  isCompared: boolean,
): LonePosition | undefined {
  const event = eventIn(data, member);
  return event && { event, tag: isCompared ? frameTagOf(data) : 0 };
}

function eventIn(data: string | Uint8Array, member: string): PlacedEvent | undefined {
  const number = leadingNumber(data, member);
  if (number >= 0) return placedAt(number);
  const text = typeof data === 'string' ? data : headOf(data);
  const value = peekMember(text, member);
  return value === UNKNOWN ? undefined : placed(asText(value) || undefined);
}

function headOf(bytes: Uint8Array): string {
  return decodeUtf8(bytes, 0, Math.min(bytes.length, HEAD));
}
