import type { MessageData } from '../connection.ts';
import { frameTagOf } from '../frame-tag.ts';
import { peekMember, UNKNOWN } from '../json-member.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { asText } from '../profile/place.ts';

export interface LonePosition {
  readonly position: string | undefined;
  /** Tag of the whole frame. */
  readonly tag: number;
}

/** Above this a frame is forgotten, so that a single large one is not kept. */
const MOST_KEPT = 65_536;

let lastText = '';
let lastMember = '';
let last: LonePosition = { position: undefined, tag: 0 };

/**
 * What a frame says under a profile that reads the position from it and nothing else. A frame that
 * goes to many is looked at once.
 *
 * @returns `undefined` where it has to be read as any other.
 */
export function lonePosition(
  data: MessageData,
  { loneMember, messages }: CompiledProfile,
): LonePosition | undefined {
  if (loneMember === undefined || messages !== 'json' || typeof data !== 'string') return undefined;
  if (data === lastText && loneMember === lastMember) return last;
  if (!data.startsWith('{') || !data.endsWith('}')) return undefined;
  const value = peekMember(data, loneMember);
  if (value === UNKNOWN) return undefined;
  const found = { position: asText(value) || undefined, tag: frameTagOf(data) };
  if (data.length > MOST_KEPT) return found;
  lastText = data;
  lastMember = loneMember;
  last = found;
  return found;
}
