import type { ConnectionEnd } from '@sameriver/core';

// What undici reports when the application closed its own dispatcher or body.
const ASKED_FOR: ReadonlySet<string> = new Set([
  'ABORT_ERR',
  'UND_ERR_ABORTED',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
]);

// System errors are upper case throughout (`ECONNRESET`); the rest name their maker.
const OF_THE_NETWORK = /^(?:E[A-Z0-9]+|UND_ERR_\w+|HPE_\w+|ERR_(?:HTTP2|SSL|TLS|STREAM)_\w+)$/;

/**
 * Why a connection ended, from the error that its library reports. A foreign object is the reason
 * that an application gave to `abort(reason)`: nothing else can bring one here.
 */
export function endOf(error: unknown): ConnectionEnd {
  const code = codeOf(error);
  if (code === 'UND_ERR_BODY_TIMEOUT') return 'idle_timeout';
  if (code === undefined || ASKED_FOR.has(code)) return 'aborted';
  return OF_THE_NETWORK.test(code) ? 'reset' : 'aborted';
}

/** A value for `error.type`: the code of the error when it is one of a closed kind. */
export function errorTypeOf(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined && (ASKED_FOR.has(code) || OF_THE_NETWORK.test(code))) return code;
  return endOf(error) === 'aborted' ? 'aborted' : '_OTHER';
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === 'string') return code;
  // undici promises a code for these and looks it up the wrong way round.
  if (name === 'HTTPParserError') return 'HPE_UNKNOWN';
  // `new TypeError('terminated')` and its like carry what happened as their cause.
  const { cause } = error as { readonly cause?: unknown };
  return cause === error || cause === undefined ? undefined : codeOfCause(cause);
}

function codeOfCause(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  const { code } = cause as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
