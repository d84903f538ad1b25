import { isForCursor, parseContinuity, typedContinuity } from './continuity.ts';
import { parseJson } from './json.ts';
import type { ContinuityMembers } from './profile/place.ts';
import type { SseScanner } from './sse/scanner.ts';

/**
 * The twin of the header, as the first frame of a body: for readers whose header a proxy takes away,
 * or who cannot see headers at all.
 */
const NAME = 'stream-continuity';
const COMMENT = /^ ?stream-continuity +/;
/** Keys and quotes of JSON come on top of the 1,024 characters that a field may have. */
const MAX_JSON = 2048;
const COLON = 0x3a;
const SMALL_E = 0x65;

/** @param first Code of the first byte of a body: whether a twin may begin with it. */
export function mayBeginTwin(first: number | undefined): boolean {
  return first === COLON || first === SMALL_E;
}

/** An event of that name without an id belongs to the transport and not to the application. */
export function isTwin(scanner: SseScanner): boolean {
  return !scanner.hasId && scanner.eventName === NAME;
}

/** @param text A comment without its colon. */
export function readTwinComment(text: string): ContinuityMembers | undefined {
  const name = COMMENT.exec(text)?.[0];
  return name === undefined ? undefined : parseContinuity(text.slice(name.length));
}

/** @param data A JSON object with the keys of the field. */
export function readTwinEvent(data: string | undefined): ContinuityMembers | undefined {
  if (data === undefined || data.length > MAX_JSON) return undefined;
  const value = parseJson(data);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return typedContinuity(Object.entries(value));
}

/**
 * Bodies are stored and sent again as headers rarely are, so a twin has to name the cursor that was
 * sent; one that names none was written for somebody who had none.
 */
export function twinFor(
  twin: ContinuityMembers,
  sentCursor: string | undefined,
): ContinuityMembers | undefined {
  const namesCursor = twin.has('received') || twin.has('from');
  const mustName = sentCursor !== undefined;
  return namesCursor === mustName && isForCursor(twin, sentCursor) ? twin : undefined;
}
