/** What a server says of how an answer continues the stream: `Stream-Continuity`, member by member. */
export type ContinuityStatus = 'initialized' | 'resumed' | 'reset' | 'unknown';

/** Why a stream does not go on from the cursor. `incomplete`: events after it were not sent again. */
export type ResetReason = 'unknown-id' | 'evicted' | 'other-gen' | 'malformed' | 'incomplete';

export interface Continuity {
  readonly status: ContinuityStatus;
  /** `gen`: the incarnation of the log, kept with the log. */
  readonly epoch?: string | undefined;
  /** The cursor that is honoured: what follows it comes first. */
  readonly from?: string | undefined;
  /** The cursor that arrived, honoured or not. */
  readonly received?: string | undefined;
  /** Id of the event right after the cursor. */
  readonly next?: string | undefined;
  /** Oldest and newest position of this stream that can be replayed. */
  readonly oldest?: string | undefined;
  readonly newest?: string | undefined;
  /** Events that the log can hold. */
  readonly window?: number | undefined;
  /** Positions are integers without holes. */
  readonly dense?: boolean | undefined;
  readonly reason?: ResetReason | undefined;
}

/**
 * Where a cursor stands in a log. `kept`: everything after it can be sent, `next` first, or nothing
 * was written since. `evicted`: something after it cannot. `unknown`: this log never issued it.
 */
export type FoundCursor =
  | {
      readonly kind: 'kept';
      readonly next?: string | undefined;
      readonly oldest?: string | undefined;
      readonly newest?: string | undefined;
    }
  | {
      readonly kind: 'evicted';
      readonly oldest?: string | undefined;
      readonly newest?: string | undefined;
    }
  | { readonly kind: 'unknown' };

/** What a server knows when it answers: of its log, and of the cursor in it. */
export interface ContinuityFacts {
  /** As in `Continuity`. */
  readonly epoch?: string | undefined;
  /** Absent: nobody looked, and nothing is claimed (L0). */
  readonly found?: FoundCursor | undefined;
  /** Events that the log can hold. Said only where `dense`: readers subtract it from `newest`. */
  readonly window?: number | undefined;
  readonly dense?: boolean | undefined;
}

/**
 * Says what is known and no more: without a cursor a stream begins, without a look into the log its
 * continuation is unknown.
 *
 * @param cursor The cursor of the request; empty is none.
 */
export function describeContinuity(
  cursor: string | undefined,
  { epoch, found, window, dense }: ContinuityFacts,
): Continuity {
  // A window into which nobody has looked is a promise that nobody has checked.
  const log = { epoch, dense, window: dense === true && found ? window : undefined };
  if (!cursor) return { status: 'initialized', epoch };
  switch (found?.kind) {
    case undefined:
      return { status: 'unknown', epoch, received: cursor };
    case 'unknown':
      return { status: 'reset', ...log, received: cursor, reason: 'unknown-id' };
    case 'evicted': {
      const { oldest, newest } = found;
      return { status: 'reset', ...log, received: cursor, oldest, newest, reason: 'evicted' };
    }
    case 'kept': {
      const { next, oldest, newest } = found;
      return { status: 'resumed', ...log, from: cursor, next, oldest, newest };
    }
  }
}

/** A reader ignores a longer field whole. */
const MAX_LENGTH = 1024;
/** RFC 9651 §3.1.1: fifteen digits. */
const MAX_INTEGER = 999_999_999_999_999;
const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * Writes a `Stream-Continuity` field, an RFC 9651 dictionary. Printable ASCII becomes a String, any
 * other text a Display String.
 *
 * @returns `undefined` where no reader would take it: longer than 1,024 characters, text that is no
 *   Unicode, or a window that is no number of events.
 */
export function writeContinuity(continuity: Continuity): string | undefined {
  const { status, epoch, from, received, next, oldest, newest, window, dense, reason } = continuity;
  if (window !== undefined && !isCount(window)) return undefined;
  const texts = { gen: epoch, from, received, next, oldest, newest };
  const members = [`status=${status}`];
  for (const [key, text] of Object.entries(texts)) {
    if (text === undefined) continue;
    if (!text.isWellFormed()) return undefined;
    members.push(`${key}=${PRINTABLE.test(text) ? asString(text) : asDisplayString(text)}`);
  }
  if (window !== undefined) members.push(`window=${window}`);
  if (dense === true) members.push('dense');
  if (reason !== undefined) members.push(`reason=${reason}`);
  const field = members.join(', ');
  return field.length > MAX_LENGTH ? undefined : field;
}

function isCount(window: number): boolean {
  return Number.isInteger(window) && window >= 0 && window <= MAX_INTEGER;
}

function asString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** RFC 9651 §4.1.11: UTF-8; everything but printable ASCII, and `%` and `"`, as lower-case hex. */
function asDisplayString(text: string): string {
  const escaped = encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, (octet) => {
    const code = Number.parseInt(octet.slice(1), 16);
    const isPlain = code >= 0x20 && code <= 0x7e && code !== 0x22 && code !== 0x25;
    return isPlain ? String.fromCharCode(code) : octet.toLowerCase();
  });
  return `%"${escaped}"`;
}
